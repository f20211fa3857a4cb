//! Clients that request transfers by earlier ones: browsers that load pages, and players of video.
//!
//! A request takes no bytes. The client sends it as soon as it has the last byte of the transfer before, so it reaches the
//! server with the last acknowledgement: a transfer begins there at that moment, and all times are the server's.

use std::sync::Arc;

use penstock_law::quantity::{Bytes, Time};
use penstock_scenario::model::{Application, Group, Repeats, Scenario, Size, Span, Video};
use penstock_scenario::page::Load;
use penstock_scenario::seed::Stream;
use penstock_scenario::video::{Chunk, Player};

use crate::engine::Engine;

/// A browser or a player.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its index on the agenda.
    pub(crate) entity: u32,
    /// Its first flow.
    pub(crate) first: u32,
    what: What,
}

#[derive(Debug)]
enum What {
    Browser(Browser),
    Player(Session),
}

/// A browser, which loads one page at a time.
#[derive(Debug)]
struct Browser {
    rounds: Arc<[u32]>,
    multiplexed: bool,
    size: Size,
    sizes: Stream,
    /// Pause after a page, where it loads another.
    idle: Option<Span>,
    idles: Stream,
    /// Whether each of its flows has carried something of this page.
    used: Vec<bool>,
    /// Pages before this one, and when this one and its round began [ps].
    number: u32,
    began: u64,
    round_began: u64,
    /// Rounds begun, objects of this one that no flow has taken up, and transfers that are under way.
    round: usize,
    left: u32,
    under_way: u32,
    /// Bytes of it that have come [B].
    bytes: u64,
}

/// A player of one video.
#[derive(Debug)]
struct Session {
    video: Arc<Video>,
    player: Player,
    /// Chunks before the one under way, its rate, and when it was requested [ps].
    number: u32,
    rate: usize,
    requested: u64,
}

impl Client {
    /// The client that the flow `number` of a group is the first of; none if it is another's, or of no client.
    pub(crate) fn of(
        scenario: &Scenario,
        (name, group): (&str, &Group),
        (index, number): (usize, u32),
    ) -> Option<Self> {
        let idle = if let Some(Repeats::Idle(span)) = group.repeats { Some(span) } else { None };
        let connections = group.connections();
        if !index.is_multiple_of(connections as usize) {
            return None;
        }
        let own = |what: &str| scenario.seed.stream(&format!("flows.{name}/{what}/{index}"));
        let what = match group.application.as_ref()? {
            Application::Page(page) => What::Browser(Browser {
                rounds: page.rounds.clone(),
                multiplexed: page.multiplexed,
                size: group.size.clone()?,
                sizes: own("size"),
                idle,
                idles: own("idle"),
                used: vec![false; connections as usize],
                number: 0,
                began: 0,
                round_began: 0,
                round: 0,
                left: 0,
                under_way: 0,
                bytes: 0,
            }),
            Application::Video(video) => What::Player(Session {
                video: Arc::new(video.clone()),
                player: Player::default(),
                number: 0,
                rate: 0,
                requested: 0,
            }),
        };
        Some(Self { entity: 0, first: number, what })
    }

    /// Whether it is done at some time.
    pub(crate) fn ends(&self) -> bool {
        matches!(&self.what, What::Browser(browser) if browser.idle.is_none())
    }
}

impl Engine {
    /// A client begins, or has waited long enough.
    pub(crate) fn client(&mut self, at: usize) {
        let client = &mut self.clients[at];
        let first = client.first as usize;
        if self.now >= self.groups[self.flows[first].group as usize].stop {
            return;
        }
        match &mut client.what {
            What::Browser(browser) => {
                (browser.began, browser.round, browser.bytes) = (self.now, 0, 0);
                browser.used.fill(false);
                self.next_round(at);
            }
            What::Player(session) => {
                session.requested = self.now;
                session.rate = session.player.request(&session.video, Time(self.now));
                let size = session.video.size(session.rate).0;
                self.begin(first, self.now, size, false);
            }
        }
    }

    /// The next round of a page begins on as many flows as it has objects for.
    fn next_round(&mut self, at: usize) {
        let client = &mut self.clients[at];
        let What::Browser(browser) = &mut client.what else { return };
        browser.round_began = self.now;
        browser.left = browser.rounds[browser.round];
        browser.round += 1;
        let (first, flows) = (client.first, browser.used.len().min(browser.left as usize) as u32);
        for flow in first..first + flows {
            self.next_object(at, flow);
        }
    }

    /// A free flow takes up the next object of a round, if there is one.
    fn next_object(&mut self, at: usize, flow: u32) {
        let client = &mut self.clients[at];
        let What::Browser(browser) = &mut client.what else { return };
        if browser.left == 0 {
            return;
        }
        let objects = if browser.multiplexed { browser.left } else { 1 };
        browser.left -= objects;
        browser.under_way += 1;
        let bytes = (0..objects).map(|_| browser.size.draw(&mut browser.sizes).0).fold(0, u64::saturating_add);
        let anew = !std::mem::replace(&mut browser.used[(flow - client.first) as usize], true);
        let asked = browser.round_began;
        self.begin(flow as usize, asked, bytes, anew);
    }

    /// A transfer of a client is complete.
    pub(crate) fn served(&mut self, at: usize, flow: u32, bytes: Bytes) {
        let now = self.now;
        let client = &mut self.clients[at];
        let entity = client.entity;
        let browser = match &mut client.what {
            What::Browser(browser) => browser,
            What::Player(session) => {
                let held = session.player.chunk_arrived(&session.video, Time(now));
                let (requested, rate) = (Time(session.requested), session.video.rates[session.rate]);
                self.chunks.push(Chunk { flow, number: session.number, requested, arrived: Time(now), rate, held });
                session.number += 1;
                let next = session.player.request_time(&session.video, Time(now)).0;
                return if next > now { self.schedule(entity, next) } else { self.client(at) };
            }
        };
        browser.bytes += bytes.0;
        browser.under_way -= 1;
        if browser.left > 0 {
            return self.next_object(at, flow);
        }
        if browser.under_way > 0 {
            return;
        }
        if browser.round < browser.rounds.len() {
            return self.next_round(at);
        }
        let (number, began, bytes) = (browser.number, Time(browser.began), Bytes(browser.bytes));
        browser.number += 1;
        self.pages.push(Load { flow: client.first, number, began, ended: Time(now), bytes });
        match browser.idle {
            Some(idle) => {
                let due = now.saturating_add(idle.draw(&mut browser.idles).0);
                self.schedule(entity, due);
            }
            None => self.finished(),
        }
    }
}
