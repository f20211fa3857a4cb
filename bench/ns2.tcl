# NewReno flows one way over one bottleneck, in ns-2: the same as scenarios/validation-single.toml, -loss.toml and -red.toml.
#
#   ns bench/ns2.tcl KEY VALUE ...
#
# The keys and their defaults are below. Prints one line of KEY=VALUE: the first ones from `warmup` to `stop`, those with
# `_all` from the start. Both ends sit on the bottleneck's own nodes, and headers are left out, to keep ns-2 lean; with
# `measure 0` nothing is measured but packets delivered, for its speed.
#
# What is not as one might think: the first packet of a flow is a SYN of 40 bytes; a drop-tail limit of 50 lets 49 packets
# wait; `jitter` holds packets back at the sender by up to so many seconds, in order; `certain drop` is `use_mark_p_ false`,
# with which RED drops what is certain to be marked, and `certain mark` marks that too. `queue Vq` is AVQ, with `gamma`;
# `two_way 1` adds as many flows the other way, through a queue of the same law. Queues are counted in bytes.

remove-all-packet-headers
add-packet-header IP TCP Flags

array set is {
	rate 622 delay 0.05 flows 100 queue RED limit 1000000 ecn 1 loss 0 seed 1 start 1 stop 60 warmup 20
	jitter 0 packet 1000 certain mark min_rto 0.2 tick 0.01 measure 1 gamma 0.98 two_way 0
}
array set is $argv

Agent/TCP set ecn_ $is(ecn)
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 2
Agent/TCP set packetSize_ [expr $is(packet) - 40]
Agent/TCP set minrto_ $is(min_rto)
Agent/TCP set tcpTick_ $is(tick)
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
# AVQ: the virtual queue is as long as the real one.
Queue/Vq set markpkts_ true
Queue/Vq set queue_in_bytes_ true
Queue/Vq set mean_pktsize_ $is(packet)
Queue/Vq set gamma_ $is(gamma)

ns-random $is(seed)
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b ${is(rate)}Mb $is(delay)s $is(queue)
$ns simplex-link $b $a ${is(rate)}Mb $is(delay)s [expr {$is(two_way) ? $is(queue) : "DropTail"}]
$ns queue-limit $a $b $is(limit)
$ns queue-limit $b $a [expr $is(two_way) ? $is(limit) : 1000000]
if {$is(loss) > 0} {
	# In front of the queue: behind it, the monitor would wait for lost packets to leave.
	set errors [new ErrorModel]
	$errors unit pkt
	$errors set rate_ $is(loss)
	$errors ranvar [new RandomVariable/Uniform]
	$errors drop-target [new Agent/Null]
	$ns lossmodel $errors $a $b
}

set random [new RNG]
$random seed $is(seed)
proc flow {from to} {
	global ns random is
	set tcp [new Agent/TCP/Newreno]
	set sink [new Agent/TCPSink]
	$ns attach-agent $from $tcp
	$ns attach-agent $to $sink
	$ns connect $tcp $sink
	set ftp [new Application/FTP]
	$ftp attach-agent $tcp
	$ns at [$random uniform 0 $is(start)] "$ftp start"
	return $tcp
}
for {set i 0} {$i < $is(flows)} {incr i} {
	set tcp($i) [flow $a $b]
	if {$is(two_way)} { flow $b $a }
}

proc sum {name} {
	global tcp is
	set sum 0
	for {set i 0} {$i < $is(flows)} {incr i} { set sum [expr $sum + [$tcp($i) set $name]] }
	return $sum
}

if {!$is(measure)} {
	proc finish {} {
		puts "packets=[expr int([sum ack_])]"
		exit 0
	}
	$ns at $is(stop) finish
	$ns run
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
set counted {bytes area marks drops acks packets timeouts again}
proc read {} {
	global integral bytes monitor
	$integral newpoint [[Simulator instance] now] [$integral set lasty_]
	return [list $bytes [$integral set sum_] [$monitor set pmarks_] [$monitor set pdrops_] [sum ack_] \
		[$monitor set pdepartures_] [sum nrexmit_] [sum nrexmitpack_]]
}
proc mark {} {
	global before
	set before [read]
}
proc finish {} {
	global before is counted
	set span [expr $is(stop) - $is(warmup)]
	foreach name $counted then $before now [read] {
		set d($name) [expr $now - $then]
		set all($name) $now
	}
	puts -nonewline [format "utilization=%.5f queue_packets=%.2f throughput_mbit_s=%.4f marks=%d" \
		[expr $d(bytes) * 8.0 / $span / $is(rate) / 1e6] [expr $d(area) / $span / $is(packet)] \
		[expr $d(acks) * $is(packet) * 8e-6 / $span] [expr int($d(marks))]]
	foreach name {packets marks drops timeouts again} { puts -nonewline " ${name}_all=[expr int($all($name))]" }
	puts ""
	exit 0
}
$ns at 0 count
# A moment after the counter of bytes was read.
$ns at [expr $is(warmup) + 0.0001] mark
$ns at [expr $is(stop) + 0.0001] finish
$ns run
