// NewReno flows one way over one bottleneck, in ns-3.37: the same as scenarios/validation-single.toml and -red.toml.
//
//   g++ -O2 -o OUT bench/ns3.cc -lns3.37-applications -lns3.37-traffic-control ... (bench/validation.py has the whole line)
//   OUT --rate=10 --delay=0.02 --flows=1 --queue=DropTail --limit=50 --stop=120 --warmup=60
//
// --queue=RED is ns-3's own; --queue=RED-idle-end the class below, which differs by one rule.
//
// Prints one line of KEY=VALUE. A packet of 960 bytes of payload has 1002 on the line: PPP adds two.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace ns3;

namespace
{
double area = 0;
double changedAt = 0;
uint32_t waiting = 0;
uint64_t drops = 0;
uint64_t bytes = 0;
uint64_t packets = 0;
double areaBefore = 0;
uint64_t bytesBefore = 0;

void Integrate()
{
    const double now = Simulator::Now().GetSeconds();
    area += waiting * (now - changedAt);
    changedAt = now;
}

void OnLength(uint32_t, uint32_t length)
{
    Integrate();
    waiting = length;
}

void OnSent(Ptr<const Packet> packet)
{
    bytes += packet->GetSize();
    ++packets;
}

void OnRefusedPacket(Ptr<const Packet>)
{
    ++drops;
}

void OnRefusedItem(Ptr<const QueueDiscItem>)
{
    ++drops;
}

void OnWarm()
{
    Integrate();
    areaBefore = area;
    bytesBefore = bytes;
}

// Gentle RED that marks, in packets, with ns-3's automatic settings and its rules but for one: a line is idle from the end of
// its last transmission, as in ns-2. A queue found empty has just handed its last packet to the device, which begins to send it.
class RedIdleEnd : public QueueDisc
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::RedIdleEnd").SetParent<QueueDisc>().AddConstructor<RedIdleEnd>();
        return id;
    }

    RedIdleEnd()
        : QueueDisc(QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE),
          coin(CreateObject<UniformRandomVariable>())
    {
    }

    void Set(double packetsPerSecond, double delay)
    {
        rate = packetsPerSecond;
        weight = 1 - std::exp(-1 / (10 * std::max(0.1, 3 * (delay + 1 / rate)) * rate));
        low = std::max(5.0, 0.0025 * rate);
        high = 3 * low;
    }

  private:
    bool DoEnqueue(Ptr<QueueDiscItem> item) override
    {
        const uint32_t length = GetInternalQueue(0)->GetNPackets();
        uint32_t missed = 0;
        if (idle)
        {
            // A packet has 1002 bytes on the line.
            missed = std::max(0.0, rate * (Simulator::Now() - emptySince).GetSeconds() - 1.002);
            idle = false;
        }
        average = average * std::pow(1 - weight, missed + 1) + weight * length;
        ++count;
        bool marks = false;
        if (average < low || length <= 1)
        {
            above = false;
        }
        else if (average >= 2 * high)
        {
            marks = true;
        }
        else if (!above)
        {
            above = true;
            count = 1;
        }
        else
        {
            const double p = average < high ? 0.1 * (average - low) / (high - low) : 0.1 + 0.9 * (average - high) / high;
            const double expected = count * p;
            marks = coin->GetValue() <= (expected < 1 ? 0 : expected < 2 ? p / (2 - expected) : 1);
            count = marks ? 0 : count;
        }
        if (marks && !Mark(item, "early mark"))
        {
            DropBeforeEnqueue(item, "early drop");
            return false;
        }
        return GetInternalQueue(0)->Enqueue(item);
    }

    Ptr<QueueDiscItem> DoDequeue() override
    {
        idle = GetInternalQueue(0)->IsEmpty();
        if (idle)
        {
            emptySince = Simulator::Now();
            return nullptr;
        }
        return GetInternalQueue(0)->Dequeue();
    }

    bool CheckConfig() override
    {
        AddInternalQueue(CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>(
            "MaxSize", QueueSizeValue(QueueSize(PACKETS, 1000000))));
        return true;
    }

    void InitializeParams() override
    {
    }

    Ptr<UniformRandomVariable> coin;
    double rate = 0;
    double weight = 0;
    double low = 0;
    double high = 0;
    double average = 0;
    uint32_t count = 0;
    bool above = false;
    bool idle = true;
    Time emptySince;
};

NS_OBJECT_ENSURE_REGISTERED(RedIdleEnd);
} // namespace

int main(int argc, char** argv)
{
    double rate = 622; // Mbit/s
    double delay = 0.05;
    double start = 1;
    double stop = 60;
    double warmup = 20;
    uint32_t flows = 100;
    uint32_t limit = 1000000;
    uint32_t seed = 1;
    std::string queue = "RED";
    bool sack = true; // without it 3.37 loses 6700 packets in 120 s where others lose 140, and half of the throughput
    CommandLine arguments;
    arguments.AddValue("rate", "Mbit/s", rate);
    arguments.AddValue("delay", "one way, s", delay);
    arguments.AddValue("start", "starts are uniform up to then, s", start);
    arguments.AddValue("stop", "s", stop);
    arguments.AddValue("warmup", "s", warmup);
    arguments.AddValue("flows", "how many", flows);
    arguments.AddValue("limit", "packets that may wait", limit);
    arguments.AddValue("seed", "seed", seed);
    arguments.AddValue("queue", "RED, RED-idle-end or DropTail", queue);
    arguments.AddValue("sack", "recover by SACK", sack);
    arguments.Parse(argc, argv);
    const bool red = queue != "DropTail";
    RngSeedManager::SetSeed(seed);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(red ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(960));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 29));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 29));

    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper line;
    const DataRate speed(static_cast<uint64_t>(rate * 1e6));
    line.SetDeviceAttribute("DataRate", DataRateValue(speed));
    line.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    line.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(PACKETS, red ? 1 : limit)));
    NetDeviceContainer devices = line.Install(nodes);
    DynamicCast<PointToPointNetDevice>(devices.Get(1))
        ->GetQueue()
        ->SetMaxSize(QueueSize(PACKETS, 1000000));
    InternetStackHelper().Install(nodes);

    TrafficControlHelper control;
    Ptr<QueueDisc> disc;
    if (red)
    {
        control.SetRootQueueDisc("ns3::RedQueueDisc",
                                 "UseEcn", BooleanValue(true),
                                 "UseHardDrop", BooleanValue(false),
                                 "Gentle", BooleanValue(true),
                                 "MinTh", DoubleValue(0),
                                 "MaxTh", DoubleValue(0),
                                 "QW", DoubleValue(-1),
                                 "LInterm", DoubleValue(10),
                                 "MeanPktSize", UintegerValue(1000),
                                 "MaxSize", QueueSizeValue(QueueSize(PACKETS, limit)),
                                 "LinkBandwidth", DataRateValue(speed),
                                 "LinkDelay", TimeValue(Seconds(delay)));
        if (queue == "RED-idle-end")
        {
            control = TrafficControlHelper();
            control.SetRootQueueDisc("ns3::RedIdleEnd");
        }
        disc = control.Install(devices.Get(0)).Get(0);
        if (queue == "RED-idle-end")
        {
            DynamicCast<RedIdleEnd>(disc)->Set(rate * 1e6 / 8000, delay);
        }
        disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&OnLength));
        disc->TraceConnectWithoutContext("Drop", MakeCallback(&OnRefusedItem));
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    control.Uninstall(devices.Get(1));
    if (!red)
    {
        control.Uninstall(devices.Get(0));
        Ptr<Queue<Packet>> waits = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
        waits->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&OnLength));
        // Without a queue discipline it is the layer above the device that refuses what does not fit.
        waits->TraceConnectWithoutContext("Drop", MakeCallback(&OnRefusedPacket));
        nodes.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&OnRefusedPacket));
    }
    devices.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&OnSent));

    Ptr<UniformRandomVariable> uniform = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < flows; ++i)
    {
        const uint16_t port = 5000 + i;
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
        source.SetAttribute("SendSize", UintegerValue(960));
        source.Install(nodes.Get(0)).Start(Seconds(uniform->GetValue(0, start)));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(nodes.Get(1)).Start(Seconds(0));
    }
    Simulator::Schedule(Seconds(warmup), &OnWarm);
    Simulator::Stop(Seconds(stop));
    Simulator::Run();
    Integrate();
    const double span = stop - warmup;
    std::printf("utilization=%.5f queue_packets=%.2f throughput_mbit_s=%.4f drops_all=%lu packets_all=%lu",
                (bytes - bytesBefore) * 8.0 / span / rate / 1e6,
                (area - areaBefore) / span,
                (bytes - bytesBefore) * 8e-6 / span,
                drops,
                packets);
    if (red)
    {
        std::printf(" marks_all=%u", disc->GetStats().nTotalMarkedPackets);
    }
    std::printf("\n");
    Simulator::Destroy();
    return 0;
}
