# One point of figure 1 of FAST TCP in ns-2: NewReno with gentle RED that marks.
#
#   ns bench/ns2-fig1.tcl RATE_MBIT_S DURATION_S WARMUP_S
#
# Prints the utilization of the bottleneck and its mean queue after the warm-up. The settings are those of
# papers/fast-tcp/fig1.toml: 100 flows, starts uniform in the first 0.1 s, initial window 2, an ACK for every packet,
# minimum RTO 0.2 s, the whole 50 ms on the bottleneck, RED with automatic settings in byte mode, marking at every
# probability, no loss. Both ends sit on the bottleneck's own nodes, and headers are left out, to keep ns-2 lean.

remove-all-packet-headers
add-packet-header IP TCP Flags

set rate     [lindex $argv 0]
set duration [lindex $argv 1]
set warmup   [lindex $argv 2]
set flows    100

Agent/TCP set ecn_ 1
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 2
Agent/TCP set packetSize_ 960
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001
Agent/TCP set timestamps_ false
Queue/RED set gentle_ true
Queue/RED set setbit_ true
Queue/RED set use_mark_p_ false
Queue/RED set thresh_ 0
Queue/RED set maxthresh_ 0
Queue/RED set q_weight_ -1
Queue/RED set mean_pktsize_ 1000
Queue/RED set bytes_ true
Queue/RED set queue_in_bytes_ true

set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b ${rate}Mb 50ms RED
$ns simplex-link $b $a ${rate}Mb 50ms DropTail
$ns queue-limit $a $b 1000000
$ns queue-limit $b $a 1000000

set random [new RNG]
$random seed 1
for {set i 0} {$i < $flows} {incr i} {
	set tcp [new Agent/TCP/Newreno]
	set sink [new Agent/TCPSink]
	$ns attach-agent $a $tcp
	$ns attach-agent $b $sink
	$ns connect $tcp $sink
	set ftp [new Application/FTP]
	$ftp attach-agent $tcp
	$ns at [$random uniform 0 0.1] "$ftp start"
}

set monitor [$ns monitor-queue $a $b ""]
set integral [$monitor get-bytes-integrator]
set bytes 0.0
set last 0
# The counter of bytes wraps at 2^32, so it is read every tenth of a second.
proc count {} {
	global monitor bytes last
	set now [expr int([$monitor set bdepartures_]) & 0xffffffff]
	set bytes [expr $bytes + (($now - $last) & 0xffffffff)]
	set last $now
	[Simulator instance] after 0.1 count
}
proc read {} {
	global integral bytes
	$integral newpoint [[Simulator instance] now] [$integral set lasty_]
	return [list $bytes [$integral set sum_]]
}
proc mark {} {
	global before
	set before [read]
}
proc finish {} {
	global before rate duration warmup
	set after [read]
	set span [expr $duration - $warmup]
	set bits [expr ([lindex $after 0] - [lindex $before 0]) * 8.0]
	set area [expr [lindex $after 1] - [lindex $before 1]]
	puts [format "%s Mbit/s: utilization %.4f, mean queue %.1f packets" $rate \
		[expr $bits / $span / $rate / 1e6] [expr $area / $span / 1000.0]]
	exit 0
}
$ns at 0 count
$ns at [expr $warmup + 0.01] mark
$ns at [expr $duration + 0.01] finish
$ns run
