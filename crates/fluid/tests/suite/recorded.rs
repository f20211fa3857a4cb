//! Trajectories as they were recorded: a faster run has the same numbers.

use crate::scenarios::{aqm, cc, dumbbell, group};
use penstock_fluid::Fluid;
use penstock_law::quantity::{Rate, Time};
use penstock_scenario::model::{Buffer, Group, Link, Rtt, Scenario, Start};
use penstock_scenario::world::World;

/// Two groups on 20 Mbit/s, the second from 3 s on: a controller and its parameters, a queue's law and its parameters, and a
/// buffer [packets]. The first group's flows acknowledge every second packet.
type Case = (&'static str, &'static [(&'static str, f64)], &'static str, &'static [(&'static str, f64)], Option<u64>);

const CASES: &[(Case, [[f64; 4]; 4])] = &[
    (
        ("newreno", &[], "droptail", &[], Some(60)),
        [
            [0.0, 0.0, 25.860_561_396_722_38, 2.0],
            [42.720_151_273_775_88, 0.0, 32.073_655_262_954_276, 22.419_242_242_092_64],
            [33.062_804_409_068_63, 27.878_662_539_125_138, 27.325_906_135_221_04, 32.848_718_460_334_496],
            [11.813_590_311_429_465, 47.789_467_350_163_23, 25.760_935_678_079_434, 35.489_880_045_626_92],
        ],
    ),
    (
        ("newreno", &[("ecn", 1.0)], "red", &[("ecn", 1.0)], None),
        [
            [0.0, 0.0, 25.860_561_396_722_38, 2.0],
            [2.690_527_426_785_770_6, 0.279_341_890_914_658_1, 22.370_683_747_844_538, 21.668_997_678_599_048],
            [12.318_675_582_548_103, 0.0, 30.057_305_944_314_15, 15.189_036_341_578_337],
            [12.608_380_990_626_053, 0.0, 29.322_060_504_951_395, 16.588_972_738_218_068],
        ],
    ),
    (
        ("newreno", &[("ecn", 1.0)], "pi", &[("ecn", 1.0)], None),
        [
            [0.0, 0.0, 25.818_553_089_497_68, 2.0],
            [65.304_830_564_462_58, 0.0, 37.386_854_056_243_79, 22.051_961_683_869_095],
            [52.449_913_288_642_58, 21.682_176_143_669_835, 30.129_455_299_665_83, 33.259_102_796_169_4],
            [47.790_483_575_623_014, 43.688_137_915_084_894, 29.582_343_871_269_696, 38.233_608_951_655_12],
        ],
    ),
    (
        ("fast", &[("alpha", 20.0)], "droptail", &[], None),
        [
            [79.991_235_604_614_63, 0.0, 57.500_054_382_553_856, 2.0],
            [133.324_146_339_022_18, 63.445_093_388_698_325, 42.557_486_954_543_236, 52.053_039_839_334_15],
            [133.155_604_902_755_87, 63.072_283_058_224_386, 42.494_837_918_416_71, 51.603_977_978_800_24],
            [133.330_695_036_444_5, 62.991_725_849_840_05, 42.500_213_875_388_04, 51.581_572_715_690_94],
        ],
    ),
    (
        ("fast", &[("alpha", 20.0)], "red", &[], Some(200)),
        [
            [17.513_330_506_070_332, 0.0, 45.567_159_359_949_62, 2.0],
            [22.941_801_761_745_868, 3.480_409_029_993_453, 25.247_890_507_497_438, 27.316_733_988_717_026],
            [10.192_296_601_366_575, 2.667_813_306_610_920_4, 27.192_579_608_341_51, 23.617_219_696_585_824],
            [8.590_408_870_782_085, 2.090_335_566_461_98, 32.364_178_390_453_11, 31.299_136_038_717_03],
        ],
    ),
    (
        ("leadlag", &[], "price", &[], None),
        [
            [0.0, 0.0, 36.017_536_355_343_864, 1.0],
            [0.0, 0.0, 24.594_982_907_413_744, 17.875_494_307_286_11],
            [0.0, 0.0, 21.095_456_286_161_024, 21.713_106_616_710_675],
            [0.0, 0.0, 21.337_685_335_105_153, 21.421_971_441_019_817],
        ],
    ),
    (
        ("leadlag", &[("signal", 1.0)], "droptail", &[], None),
        [
            [0.0, 0.0, 36.017_536_355_343_864, 1.0],
            [135.951_643_842_855_47, 0.0, 52.088_522_587_604_71, 24.823_157_706_909_186],
            [241.052_803_051_598_4, 0.0, 59.059_839_979_288_43, 46.346_589_243_245_944],
            [280.938_675_182_244_76, 28.195_014_258_504_273, 64.296_901_655_963_91, 57.891_267_619_924_506],
        ],
    ),
    (
        ("highspeed", &[], "pi", &[], Some(300)),
        [
            [0.0, 0.0, 25.818_385_503_558_74, 2.0],
            [65.217_181_057_439_84, 0.0, 37.406_844_133_022_12, 22.060_037_548_125_42],
            [52.435_834_956_900_3, 21.670_519_028_233_954, 30.164_450_629_322_02, 33.296_328_322_187_875],
            [47.799_535_189_629_22, 43.722_098_720_543_49, 29.616_238_390_699_078, 38.286_037_444_131_42],
        ],
    ),
    (
        ("ccp", &[], "droptail", &[], Some(60)),
        [
            [59.614_231_721_715_95, 0.0, 26.944_386_907_126_894, 2.0],
            [6.607_719_688_626_851, 26.741_799_452_855_403, 18.938_981_502_814_556, 29.052_545_226_683_68],
            [44.114_027_539_344_99, 0.0, 25.223_604_399_771_77, 25.596_468_636_107_99],
            [11.714_312_228_174_89, 0.0, 28.087_016_228_595_22, 21.867_846_293_295_642],
        ],
    ),
    (
        ("scalable", &[], "rem", &[], None),
        [
            [0.0, 0.0, 17.674_950_740_155_687, 2.0],
            [0.0, 0.0, 22.680_608_760_804_1, 17.805_354_582_685_947],
            [33.581_185_892_918_704, 0.0, 28.579_439_385_192_714, 24.417_910_536_916_928],
            [64.704_674_055_795_27, 5.866_756_300_565_374, 32.127_545_763_218_72, 30.517_795_701_241_91],
        ],
    ),
];

fn scenario((law, own, queue, of_queue, buffer): Case) -> Scenario {
    let one = group(4, 0.06, cc(law, own));
    let mut first = one.clone();
    first.sender.delayed_ack = 2;
    let start = Start::Uniform(Time::from_seconds(3.0), Time::from_seconds(4.0));
    let second = Group { rtt: Rtt::Each(Time::from_seconds(0.09)), start, ..one };
    let mut scenario = dumbbell(20e6, 1000, &aqm(queue, of_queue), vec![first, second]);
    // Two links in a row, so that packets are looked up behind the first.
    let line = Link { rate: Rate(8_000_000), ..scenario.links["bottleneck"].clone() };
    scenario.links.insert("next".into(), line);
    scenario.groups[1].forward.push("next".into());
    for link in scenario.links.values_mut() {
        link.buffer = buffer.map_or(Buffer::Unlimited, Buffer::Packets);
    }
    scenario.duration = Time::from_seconds(12.0);
    scenario.sample = Time::from_seconds(3.0);
    scenario
}

/// Every 3 s: queues of both links [packets], and windows of both groups [packets].
fn trajectory(scenario: &Scenario) -> Vec<[f64; 4]> {
    let run = Fluid::default().run(scenario, &mut |_| true).unwrap();
    let (queue, window) =
        (run.series[0].number("queue_packets").unwrap(), run.series[1].number("window_packets").unwrap());
    let links = scenario.links.len();
    (0..4).map(|k| [queue[links * k], queue[links * k + 2], window[2 * k], window[2 * k + 1]]).collect()
}

/// The numbers are those of the version before the steps of many senders were made faster.
#[test]
fn trajectories_are_those_recorded() {
    for (case, recorded) in CASES {
        let is = trajectory(&scenario(*case));
        for (k, (is, was)) in is.iter().zip(recorded).enumerate() {
            for (is, was) in is.iter().zip(was) {
                assert!((is - was).abs() <= 1e-9 * (was.abs() + 1.0), "{case:?} at {} s: {is}, not {was}", 3 * (k + 1));
            }
        }
    }
}
