"""Environments: Gymnasium's checks, physics, determinism, many simulations and flows, randomisation, wrong calls."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import Interrupt
from gymnasium.utils.env_checker import check_env

import penstock
from penstock import Scenario, ScenarioError, _native, gym

SHORT = gym.PATH.replace('"30 s"', '"2 s"')
TWO = SHORT.replace("[flows.agent]", "[flows.agent]\ncount = 2")
# On the line of 10 Mbit/s a packet of 1500 B takes 1.2 ms.
PACKET_S = 1500 * 8 / 10e6


def path(text: str = SHORT) -> Scenario:
    return Scenario.parse(text, "path.toml")


def actions(rows: int, steps: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).uniform(-0.4, 0.4, (steps, rows, 1)).astype(np.float32)


def test_gymnasium_accepts_it() -> None:
    kinds: list[dict[str, Any]] = [
        {},
        {"step": "10 ms", "action": "rate", "history": 3, "reward": gym.remy, "scenario": path()},
    ]
    for arguments in kinds:
        env = gymnasium.make(gym.ENVIRONMENT, **arguments)
        check_env(env.unwrapped)


def test_every_observation_is_in_the_space_and_every_field_is_measured() -> None:
    assert tuple(_native.Simulations.MEASURED) == gym.Measurement._fields
    lossy = path().set("links.bottleneck.loss", 0.05)
    for action in ("window", "rate"):
        env = gym.CongestionControl(lossy, action=action, history=2)
        env.reset(seed=3)
        for at in actions(1, 150):
            observation, reward, terminated, truncated, info = env.step(at[0] * 2.5)
            assert observation.shape == (16,)
            assert env.observation_space.contains(observation)
            assert np.isfinite([reward, *info.values()]).all()
            if terminated or truncated:
                env.reset()


def test_a_window_fills_the_pipe_and_the_rest_waits() -> None:
    # Little's law: the round-trip time of a full pipe is the window times the time of a packet.
    env = gym.CongestionControl(path(), step="100 ms")
    for window in (4, 32):
        env.reset(seed=1)
        for _ in range(int(np.log2(window)) - 1):
            env.step(np.ones(1, np.float32))
        for _ in range(3):
            observation, reward, _, _, info = env.step(np.zeros(1, np.float32))
        rtt_s = max(0.02 + PACKET_S, window * PACKET_S)
        assert info["window_packets"] == pytest.approx(window, rel=1e-12) == 2 ** observation[6]
        assert info["duration_s"] == pytest.approx(0.1, abs=1e-9)
        assert info["rtt_mean_s"] == pytest.approx(rtt_s, rel=0.001)
        assert observation[0] == pytest.approx(rtt_s / (0.02 + PACKET_S), rel=0.001)
        assert observation[2] == pytest.approx(1, abs=0.1)
        # Where a step begins within a round, it may miss four packets.
        goodput = window / rtt_s * 1448 * 8
        assert info["goodput_bit_per_s"] == pytest.approx(goodput, abs=4 * 1448 * 8 / 0.1)
        assert reward == pytest.approx(info["goodput_bit_per_s"] / 10e6 * 0.02 / rtt_s, rel=0.01)
        aurora = 10 * info["throughput_packets_per_s"] - 1000 * rtt_s
        assert gym.aurora(gym.Measurement(**info)) == pytest.approx(aurora, rel=0.01)


def test_a_round_takes_a_round_trip() -> None:
    env = gym.CongestionControl(path())
    env.reset(seed=1)
    spans = [env.step(np.zeros(1, np.float32))[4]["duration_s"] for _ in range(20)]
    # Two packets, one after the other on the line.
    assert np.allclose(spans[1:], 0.02 + PACKET_S, atol=PACKET_S + 1e-9)


def test_a_rate_is_what_the_flow_sends() -> None:
    env = gym.CongestionControl(path(), step="200 ms", action="rate")
    env.reset(seed=1)
    # It begins with the initial window a round-trip time: 100 packets/s.
    for action, packets_per_s in [(0, 100), (1, 200), (1, 400)]:
        *_, info = env.step(np.array([action], np.float32))
        *_, info = env.step(np.zeros(1, np.float32))
        assert info["throughput_packets_per_s"] == pytest.approx(packets_per_s, rel=0.03)


def test_marks_are_observed() -> None:
    marking = path().set(
        "links.bottleneck.aqm", {"law": "red", "ecn": True, "min_threshold": "1 packets", "max_threshold": "5 packets"}
    )
    for ecn, share in [(True, True), (False, False)]:
        env = gym.CongestionControl(marking, step="100 ms", ecn=ecn)
        env.reset(seed=1)
        for action in 4 * [1] + 4 * [0]:
            observation, _, _, _, info = env.step(np.array([action], np.float32))
        assert bool(observation[3] > 0.05) is share
        assert (info["mark_rate"] > 0.05) is share


def test_episodes_end_with_the_scenario() -> None:
    env = gym.CongestionControl(path(), step="300 ms")
    env.reset(seed=1)
    ends = [env.step(np.zeros(1, np.float32))[2:4] for _ in range(7)]
    assert ends == [(False, False)] * 6 + [(False, True)]
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros(1, np.float32))
    assert env.summary().links["bottleneck"].utilization > 0
    finite = path().set("flows.agent.size", "100 kB").set("stop", {"when": "transfers complete"})
    env = gym.CongestionControl(finite, step="300 ms")
    env.reset(seed=1)
    ends = [env.step(np.zeros(1, np.float32))[2:4] for _ in range(3)]
    assert ends[-1] == (True, False)


def test_the_same_seed_gives_the_same_bits() -> None:
    randomize: dict[str, Any] = {
        "links.bottleneck.rate": gym.Uniform(5, 20, "Mbit/s"),
        "links.bottleneck.loss": gym.Choice(0.0, 0.02),
    }
    runs = []
    for seed in (7, 7, 8):
        env = gym.CongestionControl(path(), randomize=randomize)
        seen = [env.reset(seed=seed)[0]]
        for action in actions(1, 200):
            observation, reward, _, truncated, info = env.step(action[0])
            seen.append(np.append(observation, [reward, *info.values()]))
            if truncated:
                seen.append(env.reset()[0])
        runs.append(np.concatenate(seen))
    assert np.array_equal(runs[0], runs[1])
    assert runs[0].shape != runs[2].shape or not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("jobs", [1, 3])
def test_simulations_side_by_side_are_those_alone(jobs: int) -> None:
    drawn = {"links.bottleneck.rate": gym.LogUniform(2, 20, "Mbit/s")}
    vector = gym.CongestionControlVector(4, path(), randomize=drawn, step="50 ms", jobs=jobs)
    moves = actions(4, 90)
    seen, info = vector.reset(seed=5)
    rows = [[seen[k]] for k in range(4)]
    for move in moves:
        observations, rewards, _, truncations, info = vector.step(move)
        for k in range(4):
            rows[k].append(np.array([*observations[k], rewards[k], truncations[k], info["rtt_mean_s"][k]]))
    for k in range(4):
        env = gym.CongestionControl(path(), randomize=drawn, step="50 ms")
        alone, over = [env.reset(seed=5 + k)[0]], False
        for move in moves:
            if over:
                observation, one = env.reset()
                alone.append(np.array([*observation, 0.0, 0.0, one["rtt_mean_s"]]))
                over = False
                continue
            observation, reward, _, over, one = env.step(move[k])
            alone.append(np.array([*observation, reward, over, one["rtt_mean_s"]]))
        assert all(np.array_equal(a, b) for a, b in zip(rows[k], alone, strict=True))


def test_the_next_episode_begins_as_the_mode_says() -> None:
    zero = np.zeros((2, 1), np.float32)
    same = gymnasium.make_vec(gym.ENVIRONMENT, 2, scenario=path(), step="1 s", autoreset_mode="SameStep")
    same.reset(seed=1)
    same.step(zero)
    first, _, _, truncations, info = same.step(zero)
    assert truncations.all()
    assert info["_final_obs"].all()
    assert (first[:, 7] == 0).all()
    assert all(last[7] > 0 for last in info["final_obs"])
    assert (info["time_s"] == 0).all()
    assert (info["final_info"]["time_s"] == 2).all()
    off = gym.CongestionControlVector(2, path(), step="1 s", autoreset_mode="Disabled")
    off.reset(seed=1)
    off.step(zero)
    off.step(zero)
    with pytest.raises(RuntimeError, match="call reset"):
        off.step(zero)
    _, info = off.reset(options={"reset_mask": np.array([True, False])})
    assert list(info["time_s"]) == [0, 2]


def test_gymnasiums_own_vectors_take_it() -> None:
    sync = gymnasium.make_vec(gym.ENVIRONMENT, 2, vectorization_mode="sync", scenario=path())
    own = gymnasium.make_vec(gym.ENVIRONMENT, 2, scenario=path())
    assert isinstance(own.unwrapped, gym.CongestionControlVector)
    assert np.array_equal(sync.reset(seed=4)[0], own.reset(seed=4)[0])
    moves = actions(2, 5)
    for move in moves:
        assert np.array_equal(sync.step(move)[0], own.step(move)[0])
    sync.close()
    own.close()


def test_flows_share_a_simulation() -> None:
    vector = gym.CongestionControlVector(3, path(TWO), step="100 ms")
    assert (vector.num_envs, vector.observation_space.shape) == (6, (6, 8))
    vector.reset(seed=1)
    # The first of two takes twice the window of the other, and so, in one queue, twice the rate.
    first, both = np.array([[1.0], [0.0]], np.float32), np.ones((2, 1), np.float32)
    for move in [first, both, both, both] + 4 * [0 * both]:
        *_, info = vector.step(np.tile(move, (3, 1)))
    windows, rates = info["window_packets"].reshape(3, 2), info["throughput_packets_per_s"].reshape(3, 2)
    assert np.allclose(windows, [32, 16])
    assert rates.sum(axis=1) == pytest.approx([1 / PACKET_S] * 3, rel=0.02)
    assert rates[:, 0] / rates[:, 1] == pytest.approx([2] * 3, rel=0.1)
    rounds = gym.CongestionControlVector(1, path(TWO))
    rounds.reset(seed=1)
    spans = [rounds.step(np.zeros((2, 1), np.float32))[4]["duration_s"] for _ in range(5)]
    assert np.min(spans) > 0.02


def test_keys_are_drawn() -> None:
    draws: dict[str, Any] = {
        "links.bottleneck.rate": gym.Uniform(5, 20, "Mbit/s"),
        "flows.agent.rtt": gym.Integers(20, 60, "ms"),
        "links.bottleneck.buffer": gym.Choice("1 bdp", "9 packets"),
        "links.bottleneck.loss": lambda rng: float(rng.uniform(0, 0.01)),
    }
    env = gym.CongestionControl(path(), randomize=draws)
    infos = [env.reset(seed=seed)[1] for seed in range(40)]
    rates = np.array([info["capacity_bit_per_s"] for info in infos]) / 1e6
    rtts = np.array([info["base_rtt_s"] for info in infos]) * 1e3
    assert 5 <= rates.min() < 8 < 16 < rates.max() <= 20
    assert 20 <= rtts.min() < 30 < 50 < rtts.max() <= 60
    assert np.allclose(rtts, rtts.round())
    # The options of an episode are stronger than what is drawn.
    _, info = env.reset(seed=1, options={"set": {"links.bottleneck.rate": "3 Mbit/s"}, "seed": 9})
    assert info["capacity_bit_per_s"] == 3e6


def test_a_law_is_scored_by_what_a_run_says_of_it() -> None:
    scenario = path().set("warmup", "0 s")
    for law in ("newreno", {"law": "fast", "alpha": "4 packets"}):
        chosen = scenario.copy().set("flows.agent.cc", law if isinstance(law, dict) else {"law": law})
        score = gym.score(scenario=chosen, episodes=2, step="70 ms")
        group = penstock.run(chosen).summary.groups["agent"]
        assert score.goodput_bit_per_s == pytest.approx([group.goodput_bit_per_s] * 2, rel=1e-9)
        assert 0 < score.reward[0] < 1
    # A window that just fills the pipe, against newreno, which fills the buffer too.
    held = gym.score(lambda observation: np.clip(4.1 - observation[:, 6:7], -1, 1), scenario=scenario, episodes=2)
    assert held.reward.min() > 1.5 * gym.score(scenario=scenario, episodes=2).reward.max()


def test_a_policy_is_the_same_as_a_law() -> None:
    policies: dict[str, Callable[[Any], Any]] = {
        "follows-delay": lambda observation: np.clip(1.4 - observation[..., :1], -1, 0.3),
        "follows-loss": lambda observation: np.where(observation[..., 4:5] + observation[..., 5:6] > 0, -1.0, 0.05),
        "follows-rate": lambda observation: np.clip(observation[..., 7:8] - 0.8 - 0.2 * observation[..., 1:2], -1, 0.2),
    }
    lossy = path().set("links.bottleneck.loss", 0.01).set("links.bottleneck.buffer", "10 packets").set("warmup", "0 s")
    for name, policy in policies.items():
        law = gym.controller(policy, name)
        for scenario in (path().set("warmup", "0 s"), lossy):
            env = gym.CongestionControl(scenario)
            seen, _ = env.reset(seed=1, options={"seed": 1})
            over = False
            while not over:
                seen, _, _, over, _ = env.step(policy(seen))
            run = penstock.run(scenario.copy().set("flows.agent.cc", {"law": law.name}), seed=1)
            episode = env.summary()
            assert (run.summary.groups, run.summary.links) == (episode.groups, episode.links)


def test_policies_with_other_weights_are_other_laws() -> None:
    from penstock._law import code_of

    def law(weight: float) -> type[penstock.Controller]:
        weights = np.full(8, weight)
        return gym.controller(lambda observation: weights @ observation, "weighed")

    assert code_of(law(0.1)) == code_of(law(0.1)) != code_of(law(0.2))


def test_resets_leave_nothing_behind() -> None:
    env = gym.CongestionControl(path(), step="10 ms")
    pages = []
    for _ in range(3):
        for seed in range(60):
            env.reset(seed=seed)
            env.step(np.ones(1, np.float32))
        gc.collect()
        pages.append(int(Path("/proc/self/statm").read_text().split()[1]))
    # An episode has hundreds of kilobytes; of sixty nothing is left.
    assert pages[2] - pages[1] < 256


def test_other_threads_run_during_a_step() -> None:
    long = path(SHORT.replace('"10 Mbit/s"', '"1 Gbit/s"'))
    env = gym.CongestionControl(long, step="2 s")
    env.reset(seed=1)
    ran = threading.Event()
    count = 0

    def work() -> None:
        nonlocal count
        while not ran.is_set():
            count += 1

    env.reset(seed=1, options={"set": {"flows.agent.sender.initial_window": 4000}})
    thread = threading.Thread(target=work)
    thread.start()
    before = count
    env.step(np.zeros(1, np.float32))
    meanwhile = count - before
    ran.set()
    thread.join()
    assert meanwhile > 1000


def made(**arguments: Any) -> Callable[[], object]:
    return lambda: gym.CongestionControl(**arguments)


def stepped(action: Any, **arguments: Any) -> Callable[[], object]:
    def call() -> object:
        env = gym.CongestionControl(path(), **arguments)
        env.reset(seed=1)
        return env.step(action)

    return call


def begun(options: dict[str, Any], **arguments: Any) -> Callable[[], object]:
    return lambda: gym.CongestionControl(path(), **arguments).reset(seed=1, options=options)


def vector(reset: dict[str, Any] | None = None, step: Any = None, **arguments: Any) -> Callable[[], object]:
    def call() -> object:
        env = gym.CongestionControlVector(2, path(TWO), **arguments)
        if reset is not None:
            return env.reset(**reset)
        env.reset(seed=1)
        return env.step(step)

    return call


CALLS: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("a scenario of another class", made(scenario=7), TypeError, "give a penstock.Scenario or a path"),
    ("a sweep", made(scenario=path().set("sweep", {"seed": {"count": 2}})), ScenarioError, "sweep of 2 cells"),
    ("a wrong scenario", made(scenario=path().set("links.bottleneck.rate", "10")), ScenarioError, "is not a rate"),
    ("a group that is not there", made(flows="agnet"), ScenarioError, "there are agent"),
    ("two flows for one agent", made(scenario=path(TWO)), ValueError, "gymnasium.make_vec"),
    ("a reward that is none", made(reward="powr"), ValueError, "power, aurora, remy"),
    ("a reward of another class", made(reward=7), TypeError, "a function of a Measurement"),
    ("a step without a unit", made(step="20"), ScenarioError, "is not a duration"),
    ("a step of no time", made(step="0 s"), ScenarioError, "write a longer time"),
    ("a step of another class", made(step=0.02), TypeError, "`round` or a time"),
    ("an action that is none", made(action="windw"), ValueError, "window or rate"),
    ("a history of nothing", made(history=0), ValueError, "1 or more"),
    ("a history that is a text", made(history="2"), TypeError, "write an int"),
    ("keys that are no dict", made(randomize=["seed"]), TypeError, "dict of keys"),
    ("a key without a distribution", made(randomize={"seed": 3}), TypeError, "distribution"),
    ("a law in fixed point", made(scenario=path().set("flows.agent.sender.arithmetic", "fixed")), Exception, "fixed"),
    ("a range upside down", lambda: gym.Uniform(5, 2), ValueError, "smaller number first"),
    ("the logarithm of nothing", lambda: gym.LogUniform(0, 2), ValueError, "positive"),
    ("a choice of nothing", lambda: gym.Choice(), ValueError, "nothing to choose"),
    ("a range of texts", lambda: gym.Uniform("5", "6"), TypeError, "write a number"),  # type: ignore[arg-type]
    ("a step before reset", lambda: gym.CongestionControl().step(np.zeros(1, np.float32)), RuntimeError, "call reset"),
    ("an action that is no number", stepped(np.array([np.nan], np.float32)), ValueError, "not a number"),
    ("an infinite action", stepped(np.array([np.inf], np.float32)), ValueError, "infinite"),
    ("two actions for one", stepped(np.zeros(2, np.float32)), ValueError, "give 1 of shape [1]"),
    ("an action that is a text", stepped("1"), ValueError, "float32"),
    ("an action that is None", stepped(None), ValueError, "float32"),
    ("a long history", made(history=10**9), ValueError, "history is 1000000000: write 1000 or less"),
    ("a seed that is drawn", made(randomize={"seed": gym.Choice(3)}), ValueError, "a seed of its own"),
    ("a seed among keys", begun({"set": {"seed": 3}}), ValueError, "options={'seed'"),
    ("whole numbers between broken ones", lambda: gym.Integers(0.2, 0.8), ValueError, "0.2 is no whole number"),
    (
        "a reward that is no number",
        stepped(np.zeros(1, np.float32), reward=lambda m: float("nan")),
        ValueError,
        "the reward is nan",
    ),
    (
        "rewards that are no numbers",
        vector(step=np.zeros((4, 1)), reward=lambda m: m.duration_s * np.inf),
        ValueError,
        "return finite numbers",
    ),
    ("an option that is none", begun({"sed": 1}), ValueError, "no option `sed`"),
    ("a negative seed", begun({"seed": -1}), ValueError, "2**63 - 1"),
    ("a seed that is a text", begun({"seed": "1"}), TypeError, "write an int"),
    ("a key that is none", begun({"set": {"links.bottleneck.rat": "1 Mbit/s"}}), ScenarioError, "rat"),
    ("a key of another class", begun({"set": {"duration": object()}}), TypeError, "class object"),
    ("more flows than there were", begun({"set": {"flows.agent.count": 3}}), ScenarioError, "leave `count`"),
    (
        "a drawn value of another class",
        begun({}, randomize={"duration": lambda rng: None}),
        TypeError,
        "duration: a value is of class NoneType",
    ),
    (
        "a drawn value out of range",
        begun({}, randomize={"links.bottleneck.loss": gym.Uniform(2, 3)}),
        ScenarioError,
        "links.bottleneck.loss",
    ),
    ("no simulations", lambda: gym.CongestionControlVector(0), ValueError, "num_envs is 0"),
    ("a billion simulations", lambda: gym.CongestionControlVector(10**9), ValueError, "write 10000 or less"),
    ("a billion episodes", lambda: gym.score(None, episodes=10**9), ValueError, "write 10000 or less"),
    ("a billion threads", lambda: gym.CongestionControlVector(2, jobs=10**9), ValueError, "write 1024 or less"),
    (
        "too many numbers",
        lambda: gym.CongestionControlVector(10_000, path(TWO), history=1_000),
        ValueError,
        "10000 simulations of 2 flows under agents",
    ),
    ("no group", lambda: gym.CongestionControlVector(2, flows=[]), ValueError, "flows is empty"),
    ("no threads", lambda: gym.CongestionControlVector(2, jobs=0), ValueError, "jobs is 0"),
    ("too few actions", vector(step=np.zeros((3, 1))), ValueError, "give 4 of shape [1]"),
    ("too few seeds", vector(reset={"seed": [1]}), ValueError, "one for each of 2"),
    ("a seed for all that is a text", vector(reset={"seed": "12"}), TypeError, "seed is of class str"),
    ("a negative seed for all", vector(reset={"seed": -1}), ValueError, "seed is -1: write 0 or more"),
    ("a reward for all", vector(step=np.zeros((4, 1)), reward=lambda m: 1.0), ValueError, "one number a row"),
    (
        "a mask of half a simulation",
        vector(reset={"options": {"reset_mask": np.array([True, False, True, True])}}),
        ValueError,
        "they begin together",
    ),
    (
        "a mask of numbers",
        vector(reset={"options": {"reset_mask": np.ones(4)}}),
        ValueError,
        "give bools",
    ),
    ("a switch that is a text", made(ecn="no"), TypeError, "ecn is of class str: write True or False"),
    ("a law of no policy", lambda: gym.controller(5, "five"), TypeError, "policy is of class int"),  # type: ignore[arg-type]
    (
        "a law of a policy without a name",
        lambda: gym.controller(lambda observation: 0.0, 5),  # type: ignore[arg-type]
        TypeError,
        "name is of class int",
    ),
    (
        "a law of a policy over nothing",
        lambda: gym.controller(lambda observation: 0.0, "none", history=0),
        ValueError,
        "history is 0: write 1 or more",
    ),
    ("a policy that is none", lambda: gym.score("newreno"), TypeError, "a function of observations"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "kind", "says"), [call[1:] for call in CALLS], ids=[call[0] for call in CALLS])
def test_a_wrong_call_gives_one_clear_exception(call: Callable[[], object], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as raised:
        call()
    assert says in str(raised.value)


def test_a_reset_that_failed_is_no_beginning() -> None:
    envs = gym.CongestionControlVector(2, path())
    with pytest.raises(ScenarioError):
        envs.reset(seed=1, options={"set": {"links.bottleneck.rat": "1 Mbit/s"}})
    with pytest.raises(ValueError, match="reset all first"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=1)
    envs.reset(options={"reset_mask": np.array([True, False])})


def test_a_packet_sent_again_pays_for_itself_alone() -> None:
    # It lets all behind it go at once. They came before, and each on its line of 10 Mbit/s.
    env = gym.CongestionControl(path(gym.PATH), step="20 ms")
    env.reset(seed=1)
    lost, data_bit = 0.0, 0.0
    for at in np.random.default_rng(1).uniform(-1, 1, (1_400, 1)).astype(np.float32):
        _, reward, _, over, info = env.step(at)
        lost, data_bit = lost + info["lost_packets"], data_bit + info["goodput_bit_per_s"] * info["duration_s"]
        # A packet that came at the beginning may have begun before.
        assert info["goodput_bit_per_s"] <= 10e6 * (1 + PACKET_S / info["duration_s"])
        assert 0 <= reward <= 1
        if over:
            break
    assert lost > 20
    transferred = env.summary().groups["agent"].goodput_bit_per_s
    assert data_bit > 0.5 * transferred


def slow(**arguments: Any) -> Any:
    """Steps that take minutes."""
    endless = path(gym.PATH).set("duration", "100000 s").set("links.bottleneck.rate", "1 Gbit/s")
    return {"scenario": endless, "step": "90000 s", **arguments}


def step_of_one() -> object:
    env = gym.CongestionControl(**slow())
    env.reset(seed=1)
    return env.step(np.zeros(1, np.float32))


def step_of_two_threads() -> object:
    # The calling thread's simulation is over at once.
    envs = gym.CongestionControlVector(2, **slow(jobs=2))
    envs.reset(seed=1)
    envs.reset(options={"reset_mask": np.array([True, False]), "set": {"duration": "20 ms"}})
    return envs.step(np.zeros((2, 1), np.float32))


def summary_of_one() -> object:
    env = gym.CongestionControl(**slow())
    env.reset(seed=1)
    return env.summary()


@pytest.mark.parametrize(
    "work", [step_of_one, step_of_two_threads, summary_of_one, lambda: gym.score(None, episodes=2, **slow())]
)
def test_ctrl_c_stops_a_step_soon(work: Callable[[], object]) -> None:
    interrupted = Interrupt(0.5)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert interrupted.was_obeyed_in(0.3)


def test_after_ctrl_c_an_episode_begins_anew() -> None:
    env = gym.CongestionControl(**slow())
    env.reset(seed=1)
    interrupted = Interrupt(0.3)
    with pytest.raises(KeyboardInterrupt):
        env.step(np.zeros(1, np.float32))
    assert interrupted.was_obeyed_in(0.3)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros(1, np.float32))
    env.reset(seed=1, options={"set": {"duration": "1 s"}})
    assert env.step(np.zeros(1, np.float32))[3]
