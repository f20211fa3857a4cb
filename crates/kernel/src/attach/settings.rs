//! Parameters of a law by the command line, read as a scenario's are: the same names, units, ranges, defaults and words of
//! refusal.

use std::sync::Arc;

use penstock_law::Registry;
use penstock_law::cc::Controller;
use penstock_law::law::Role;
use penstock_law::parameter::Unit;
use penstock_scenario::model::{Chosen, Scenario};
use penstock_scenario::quantity::print_real;
use penstock_scenario::read::{Document, ReadError, ReadErrors};

use super::error::Error;

/// A scenario around a controller.
const SCENARIO: &str = r#"
format = 1
duration = "1 s"
packet = { wire = "1500 B", payload = "1448 B" }
links.l = { from = "a", to = "b", rate = "1 Gbit/s", delay = "1 ms", buffer = "unlimited" }
flows.f = { from = "a", to = "b", cc = { law = "CC" } }
"#;

/// The keys under which the command line and a scenario have its parameters.
const OURS: &str = "law.";
const THEIRS: &str = "flows.f.cc.";

/// A controller of `laws` with `settings` (`law.KEY=VALUE`).
///
/// # Errors
/// [`Error::Input`] with the words of the scenario reader.
pub fn controller(laws: &Arc<Registry>, law: &str, settings: &[String]) -> Result<Chosen<Controller>, Error> {
    let mut scenario = read(laws, &SCENARIO.replace("CC", law), settings)?;
    let group = scenario.groups.shift_remove("f");
    group.map(|group| group.cc).ok_or_else(|| Error::Input("no flow".to_owned()))
}

fn read(laws: &Arc<Registry>, text: &str, settings: &[String]) -> Result<Scenario, Error> {
    let input = |errors: &ReadErrors| Error::Input(said(errors).replace(THEIRS, OURS));
    let document = Document::parse(text, "the law").map_err(|e| input(&e))?;
    let mut document = document.with_laws(Arc::clone(laws));
    for setting in settings {
        let key = setting.split_once('=').and_then(|(key, value)| Some((key.trim().strip_prefix(OURS)?, value.trim())));
        let Some((key, value)) = key else {
            return Err(Error::Input(format!("--set {setting}: write it as in --set {OURS}KEY=VALUE")));
        };
        document.set(&format!("{THEIRS}{key}"), value).map_err(|e| input(&e))?;
    }
    let cells = document.cells().map_err(|e| input(&e))?;
    match <[_; 1]>::try_from(cells) {
        Ok([cell]) => Ok(cell.scenario),
        Err(_) => Err(Error::Input("a value, not a list of them".to_owned())),
    }
}

/// The errors of settings, without the lines of the scenario around them, which the reader of the errors has not written.
pub(super) fn said(errors: &ReadErrors) -> String {
    let (shown, more) = errors.shown();
    let placeless = |error: &ReadError| {
        // A value of the scenario around the law is not the user's: what is missing is a setting.
        let context = error.context.clone().unwrap_or_else(|| format!("as in `--set {}=VALUE`", error.key));
        ReadError { line: None, column: None, context: Some(context), ..error.clone() }.to_string()
    };
    let mut lines: Vec<_> = shown.iter().map(placeless).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

/// Names and values of all parameters that have one, as a scenario writes them.
pub fn shown<R: Role>(chosen: &Chosen<R>) -> Vec<(String, String)> {
    let parameters = chosen.law.parameters.iter();
    let value = |parameter: &penstock_law::Parameter| {
        let value = chosen.values.optional(parameter.name)?;
        let text = match parameter.unit {
            Unit::Switch => (value != 0.0).to_string(),
            Unit::Choice(words) => (*words.get(value as usize)?).to_owned(),
            unit => print_real(value, unit),
        };
        Some((parameter.name.to_owned(), text))
    };
    parameters.filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fast(settings: &[String]) -> Result<Chosen<Controller>, Error> {
        controller(&Arc::new(Registry::standard()), "fast", settings)
    }

    fn set(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn parameters_are_read_as_a_scenario_reads_them() {
        let law = fast(&set(&["law.alpha=50 packets", "law.gamma=0.25"])).unwrap();
        let shown = shown(&law);
        assert_eq!(shown[0], ("alpha".to_owned(), "50 packets".to_owned()));
        assert_eq!(shown[1], ("gamma".to_owned(), "0.25".to_owned()));
        assert!(shown.iter().all(|(name, _)| !name.starts_with("start")), "off unless asked for: {shown:?}");
        let start = fast(&set(&["law.start_growth=1.25", "law.start_qdelay=250 us"])).unwrap();
        let shown = self::shown(&start);
        assert_eq!(
            shown[3..],
            [("start_growth", "1.25"), ("start_qdelay", "250 us")].map(|(a, b)| (a.into(), b.into()))
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_in_its_words() {
        for (setting, said) in [
            ("law.alphq=50 packets", "`fast` has no parameter `alphq`"),
            ("law.alpha=-1 packets", "outside the range"),
            ("law.gamma=3", "outside the range"),
            ("law.start_growth=3", "outside the range"),
            ("law.start_qdelay=3", "a duration"),
            ("alpha=3", "--set alpha=3: write it as in --set law.KEY=VALUE"),
            ("law.gamma", "write it as in"),
        ] {
            let error = fast(&set(&[setting])).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("flows.f"), "{error}");
        }
    }

    /// The scenario around a law is ours: its lines are nowhere to be looked up.
    #[test]
    fn errors_name_no_line_of_a_text_that_nobody_wrote() {
        let errors = Document::parse("format = 1", "the law").unwrap().cells().unwrap_err();
        assert!(errors.to_string().starts_with("the law:1:"), "{errors}");
        assert!(said(&errors).lines().all(|line| line.starts_with("the law: ")), "{}", said(&errors));
    }
}
