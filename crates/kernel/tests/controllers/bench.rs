//! Namespaces, pins and wrong programs for the tests of controllers, all of them their own.
#![allow(unreachable_pub, missing_docs, dead_code)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, connect, getsockopt, setsockopt, socket, sockopt,
};
use penstock_kernel::attach::pins::Pins;
use penstock_kernel::attach::{self, Attached, Error, Place, Request, Which, object};
use penstock_law::Registry;
use penstock_machine::clock::{self, Clock};
use penstock_machine::namespace::Namespace;
use socket2::{SockFilter, SockRef};

/// A directory of pins that is gone with all that is attached.
pub struct Bench {
    pub pins: Pins,
    folder: PathBuf,
}

impl Bench {
    pub fn new() -> Self {
        let folder = crate::optional::pins("test");
        Self { pins: Pins::at(&folder), folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn attach(&self, name: &str, place: Place<'_>, settings: &[&str]) -> Result<Attached, Error> {
        let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
        attach::attach(&self.pins, &Request { laws: &Arc::new(Registry::standard()), name, place, settings: &settings })
    }

    /// A figure of what is attached, and nothing else is.
    pub fn figure(&self, name: &str) -> f64 {
        let status = attach::status(&self.pins).unwrap();
        let [attached] = &status[..] else { panic!("{status:?}") };
        attached.figures.iter().find(|figure| figure.name == name).unwrap().value
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = attach::detach(&self.pins, Which::default());
        // A test that failed may have left what `detach` does not know.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[derive(Clone, Copy)]
struct MaxPacingRate;

nix::setsockopt_impl!(MaxPacingRate, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, usize, sockopt::SetUsize);

/// A namespace with a loopback device, both ends of every connection in it.
pub struct Ends(Namespace);

const PLACE: &str = "127.0.0.1:5000";

pub fn ends(work: impl FnOnce(&Ends)) {
    let namespace = Namespace::new().unwrap();
    let up = || Command::new("ip").args(["link", "set", "lo", "up"]).status();
    assert!(namespace.within(up).unwrap().success());
    work(&Ends(namespace));
}

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

impl Ends {
    pub fn within<T: Send, E: Send>(&self, work: impl FnOnce() -> Result<T, E> + Send) -> Result<T, E> {
        self.0.within(|| Ok(work())).unwrap()
    }

    pub fn default(&self) -> String {
        self.within(|| fs::read_to_string(SYSCTL)).unwrap().trim().to_owned()
    }

    /// As somebody else would, by hand.
    pub fn set_default(&self, controller: &str) -> io::Result<()> {
        self.within(|| fs::write(SYSCTL, controller))
    }

    /// Every receiver declines ECN.
    pub fn refuse_ecn(&self) {
        self.within(|| fs::write("/proc/sys/net/ipv4/tcp_ecn", "0")).unwrap();
    }

    /// Sends so much, both ends with that controller; what the sender had in the end.
    pub fn send(&self, controller: &str, bytes: usize) -> io::Result<String> {
        self.transfer([Some(controller); 2], bytes)
    }

    /// Sends to one who has the default controller.
    pub fn send_to_others(&self, controller: &str, bytes: usize) -> io::Result<String> {
        self.transfer([Some(controller), None], bytes)
    }

    pub fn send_by_default(&self, bytes: usize) -> io::Result<String> {
        self.transfer([None; 2], bytes)
    }

    fn transfer(&self, [controller, receiver]: [Option<&str>; 2], bytes: usize) -> io::Result<String> {
        self.within(|| {
            let listener = TcpListener::bind(PLACE)?;
            if let Some(receiver) = receiver {
                setsockopt(&listener, sockopt::TcpCongestion, &receiver.into())?;
            }
            let reading = std::thread::spawn(move || -> io::Result<usize> {
                let (mut stream, _) = listener.accept()?;
                let (mut room, mut all) = (vec![0; 1 << 16], 0);
                loop {
                    match stream.read(&mut room)? {
                        0 => return Ok(all),
                        some => all += some,
                    }
                }
            });
            let mut stream = connected(controller)?;
            stream.write_all(&vec![0; bytes])?;
            let used = controller_of(&stream);
            drop(stream);
            assert_eq!(reading.join().unwrap()?, bytes);
            Ok(used)
        })
    }

    /// Sends so much by a socket that may not send faster than `rate` [B/s]; how long that takes.
    pub fn send_at_most(&self, controller: &str, rate: usize, bytes: usize) -> io::Result<Duration> {
        self.within(|| {
            let listener = TcpListener::bind(PLACE)?;
            let reading = std::thread::spawn(move || io::copy(&mut listener.accept()?.0, &mut io::sink()));
            let mut stream = connected(Some(controller))?;
            setsockopt(&stream, MaxPacingRate, &rate)?;
            let clock = Clock::start();
            stream.write_all(&vec![0; bytes])?;
            drop(stream);
            assert_eq!(reading.join().unwrap()?, bytes as u64);
            Ok(clock::duration(clock.now()))
        })
    }

    /// Sends for a second and a half, through an outage of six tenths: longer than the kernel's minimum RTO.
    pub fn send_through_an_outage(&self, controller: &str) -> io::Result<()> {
        self.within(|| {
            let listener = TcpListener::bind(PLACE)?;
            let mut stream = connected(Some(controller))?;
            let receiver = listener.accept()?.0;
            let outage = receiver.try_clone()?;
            let reading = std::thread::spawn(move || io::copy(&mut &receiver, &mut io::sink()));
            let outage = std::thread::spawn(move || -> io::Result<()> {
                let outage = SockRef::from(&outage);
                std::thread::sleep(Duration::from_millis(300));
                // Nothing of any packet is let in.
                outage.attach_filter(&[SockFilter::new(libc::BPF_RET as u16, 0, 0, 0)])?;
                std::thread::sleep(Duration::from_millis(600));
                outage.detach_filter()
            });
            for _ in 0..300 {
                stream.write_all(&[0; 10_000])?;
                std::thread::sleep(Duration::from_millis(5));
            }
            drop(stream);
            outage.join().unwrap()?;
            reading.join().unwrap()?;
            Ok(())
        })
    }

    /// A connection that stays open, with nobody who reads.
    pub fn connect(&self, controller: &str) -> io::Result<(TcpStream, TcpListener)> {
        self.within(|| {
            let listener = TcpListener::bind("127.0.0.1:5001")?;
            Ok((open(Some(controller), "127.0.0.1:5001")?, listener))
        })
    }
}

fn connected(controller: Option<&str>) -> io::Result<TcpStream> {
    open(controller, PLACE)
}

fn open(controller: Option<&str>, place: &str) -> io::Result<TcpStream> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    if let Some(controller) = controller {
        setsockopt(&socket, sockopt::TcpCongestion, &controller.into())?;
    }
    let place: SocketAddrV4 = place.parse().unwrap();
    connect(socket.as_raw_fd(), &SockaddrIn::from(place))?;
    Ok(TcpStream::from(socket))
}

pub fn controller_of(stream: &impl AsFd) -> String {
    let name = getsockopt(&stream.as_fd(), sockopt::TcpCongestion).unwrap();
    name.to_string_lossy().trim_end_matches('\0').to_owned()
}

/// The kernel's objects behind a pin of a controller, by their numbers: the machine may have others of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Objects {
    pub links: BTreeSet<u32>,
    pub maps: BTreeSet<u32>,
    pub programs: BTreeSet<u32>,
}

impl Objects {
    /// Of everything that is pinned.
    pub fn pinned(pins: &Pins) -> Self {
        let mut all = Self::default();
        for name in pins.names().unwrap() {
            let about = Link::open(pins.path(&name)).unwrap().info().unwrap();
            let LinkTypeInfo::StructOps(behind) = about.info else { continue };
            all.links.insert(about.id);
            all.maps.insert(behind.map_id);
            let map = MapHandle::from_map_id(behind.map_id).unwrap();
            // In the places of functions the kernel shows the numbers of programs.
            let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
            let words = value.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
            let words: BTreeSet<u32> = words.filter_map(|word| u32::try_from(word).ok()).collect();
            for program in ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true)) {
                if program.ty == libbpf_rs::ProgramType::StructOps && words.contains(&program.id) {
                    all.programs.insert(program.id);
                    all.maps.extend(program.map_ids);
                }
            }
        }
        all
    }

    /// Those of them that the kernel still has.
    pub fn left(&self) -> Self {
        Self {
            links: LinkInfoIter::default().map(|link| link.id).filter(|id| self.links.contains(id)).collect(),
            maps: MapInfoIter::default().map(|map| map.id).filter(|id| self.maps.contains(id)).collect(),
            programs: ProgInfoIter::default().map(|one| one.id).filter(|id| self.programs.contains(id)).collect(),
        }
    }

    pub fn add(&mut self, other: Self) {
        self.links.extend(other.links);
        self.maps.extend(other.maps);
        self.programs.extend(other.programs);
    }
}

/// Waits for what the kernel frees.
pub fn eventually(holds: impl FnMut() -> bool) {
    assert!(crate::optional::eventually(holds), "not within a minute");
}

/// `wrong.bpf.c` compiled to be wrong in that way, and loaded.
pub fn wrong(how: &str) -> Result<Object, Error> {
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let bytes = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("wrong-{how}-{}.o", std::process::id()));
    let source = home.join("tests/controllers/wrong.bpf.c");
    let mut clang = clang();
    clang.arg(format!("-D{how}")).arg("-I").arg(home.join("../../bpf")).arg("-c").arg(source).arg("-o").arg(&bytes);
    assert!(clang.status().unwrap().success());
    let object = object::load("wrong", &fs::read(&bytes).unwrap(), |_| Ok(()));
    fs::remove_file(bytes).unwrap();
    object
}

fn clang() -> Command {
    let native = Command::new("clang").args(["-v", "-E", "-x", "c", "/dev/null"]).output();
    let text = native.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default();
    let folders = text.lines().skip_while(|line| !line.starts_with("#include <...>")).skip(1);
    let mut clang = Command::new("clang");
    clang.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", &format!("-D__TARGET_ARCH_{}", processor())]);
    for folder in folders.take_while(|line| line.starts_with(' ')) {
        clang.arg("-idirafter").arg(folder.trim());
    }
    clang
}

fn processor() -> &'static str {
    if cfg!(target_arch = "x86_64") { "x86" } else { "arm64" }
}

/// The parts that the tests need beyond those of controllers.
pub fn missing() -> Option<String> {
    let there = Command::new("clang").arg("--version").output().is_ok();
    (!there).then(|| "clang is missing: it compiles programs that are wrong".to_owned())
}

/// Registers what was loaded; the link holds it.
pub fn link_of(mut object: Object) -> libbpf_rs::Result<Link> {
    let mut map = object.maps_mut().find(|map| map.name() == "wrong").unwrap();
    map.attach_struct_ops()
}

/// Has a link take another map.
pub fn update(link: &Link, map: &libbpf_rs::Map<'_>) -> io::Result<()> {
    penstock_kernel::attach::controller::replace(link, map)
}
