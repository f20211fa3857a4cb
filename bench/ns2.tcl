# NewReno flows one way over one bottleneck, in ns-2: the twin of scenarios/validation-*.toml.
#
#   ns bench/ns2.tcl KEY VALUE ...
#
# The keys and their defaults are below. Prints one line of KEY=VALUE. Both ends sit on the bottleneck's own nodes, and
# headers are left out, to keep ns-2 lean. The first packet of a flow is a SYN of 40 bytes, as ns-2 has it. A drop-tail
# limit of 50 lets 49 packets wait. `jitter` delays packets by up to so many seconds at the sender: 1e-8 is enough to
# take arrivals away from the moments of departures. `certain drop` is `use_mark_p_ false`, which drops all packets while
# the average is above twice the upper threshold; `certain mark` marks them, as every other packet.

remove-all-packet-headers
add-packet-header IP TCP Flags

array set is {
	rate 622 delay 0.05 flows 100 queue RED limit 1000000 ecn 1 loss 0 seed 1 start 1 stop 60 warmup 20
	jitter 0 packet 1000 certain mark
}
array set is $argv

Agent/TCP set ecn_ $is(ecn)
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 2
Agent/TCP set packetSize_ [expr $is(packet) - 40]
Agent/TCP set minrto_ 0.2
Agent/TCP set timestamps_ false
Agent/TCP set overhead_ $is(jitter)
Queue/RED set gentle_ true
Queue/RED set setbit_ true
Queue/RED set use_mark_p_ [string equal $is(certain) mark]
Queue/RED set mark_p_ 2.0
Queue/RED set thresh_ 0
Queue/RED set maxthresh_ 0
Queue/RED set q_weight_ -1
Queue/RED set mean_pktsize_ $is(packet)
Queue/RED set bytes_ true
Queue/RED set queue_in_bytes_ true

ns-random $is(seed)
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b ${is(rate)}Mb $is(delay)s $is(queue)
$ns simplex-link $b $a ${is(rate)}Mb $is(delay)s DropTail
$ns queue-limit $a $b $is(limit)
$ns queue-limit $b $a 1000000
if {$is(loss) > 0} {
	set errors [new ErrorModel]
	$errors unit pkt
	$errors set rate_ $is(loss)
	$errors ranvar [new RandomVariable/Uniform]
	$errors drop-target [new Agent/Null]
	$ns link-lossmodel $errors $a $b
}

set random [new RNG]
$random seed $is(seed)
for {set i 0} {$i < $is(flows)} {incr i} {
	set tcp($i) [new Agent/TCP/Newreno]
	set sink [new Agent/TCPSink]
	$ns attach-agent $a $tcp($i)
	$ns attach-agent $b $sink
	$ns connect $tcp($i) $sink
	set ftp [new Application/FTP]
	$ftp attach-agent $tcp($i)
	$ns at [$random uniform 0 $is(start)] "$ftp start"
}

set monitor [$ns monitor-queue $a $b ""]
set integral [$monitor get-bytes-integrator]
set bytes 0.0
set last 0
# The counter of bytes wraps at 2^32, so it is read twenty times a second.
proc count {} {
	global monitor bytes last
	set now [expr int([$monitor set bdepartures_]) & 0xffffffff]
	set bytes [expr $bytes + (($now - $last) & 0xffffffff)]
	set last $now
	[Simulator instance] after 0.05 count
}
proc sum {name} {
	global tcp is
	set sum 0
	for {set i 0} {$i < $is(flows)} {incr i} { set sum [expr $sum + [$tcp($i) set $name]] }
	return $sum
}
proc read {} {
	global integral bytes monitor
	$integral newpoint [[Simulator instance] now] [$integral set lasty_]
	return [list $bytes [$integral set sum_] [sum ncwndcuts_] [$monitor set pmarks_] [$monitor set pdrops_] [sum ack_] \
		[$monitor set pdepartures_]]
}
proc mark {} {
	global before
	set before [read]
}
proc finish {} {
	global before is
	set after [read]
	set span [expr $is(stop) - $is(warmup)]
	foreach name {bytes area cuts marks drops acks packets} then $before now $after {
		set d($name) [expr $now - $then]
		set t($name) $now
	}
	puts [format "utilization=%.5f queue_packets=%.2f cuts=%d marks=%d drops=%d goodput_mbit_s=%.4f drops_all=%d packets=%d" \
		[expr $d(bytes) * 8.0 / $span / $is(rate) / 1e6] [expr $d(area) / $span / $is(packet)] [expr int($d(cuts))] \
		[expr int($d(marks))] [expr int($d(drops))] [expr $d(acks) * $is(packet) * 8e-6 / $span] \
		[expr int($t(drops))] [expr int($t(packets))]]
	exit 0
}
$ns at 0 count
# A moment after the counter of bytes was read.
$ns at [expr $is(warmup) + 0.0001] mark
$ns at [expr $is(stop) + 0.0001] finish
$ns run
