use super::*;
use crate::plan::profile::StopRule;
use crate::text::file::parse_toml;

const PLAN: &str = "title='Hello'\nworkload='hello'\ntargets=['go/net-http','javascript/express:cluster']\nprecision='2%'\n[profile]\nkind='closed'\nconnections=10\nduration='30s'\n[quick]\nrepetitions=1\n[quick.profile]\nduration='3s'\n[cpus]\ntarget='0'\ngenerator='1'\n";

fn resolve(text: &str, options: &PlanOptions) -> Result<Plan, String> {
    let raw: RawPlan =
        parse_toml(Path::new("hello.toml"), text).map_err(|error| error.to_string())?;
    Plan::resolve("hello".into(), raw, None, options)
}

#[test]
fn a_plan_resolves_and_its_quick_form_keeps_the_shape() {
    let plan = resolve(PLAN, &PlanOptions::default()).unwrap();
    assert_eq!((plan.repetitions, plan.targets.len(), plan.precision), (3, 2, Some(0.02)));
    let quick = resolve(PLAN, &PlanOptions { quick: true, ..PlanOptions::default() }).unwrap();
    assert_eq!(quick.repetitions, 1);
    assert_eq!(quick.profile, Profile::closed(10, StopRule::after(3_000_000_000)));
    assert!(quick.quick && !plan.quick);
}

#[test]
fn a_plan_without_a_quick_form_is_never_called_quick() {
    let options = PlanOptions { quick: true, ..PlanOptions::default() };
    let without = PLAN.replace("[quick]\nrepetitions=1\n[quick.profile]\nduration='3s'\n", "");
    let plan = resolve(&without, &options).unwrap();
    assert!(!plan.quick && plan.repetitions == 3, "{plan:?}");
}

#[test]
fn all_stands_in_the_place_of_a_list() {
    let list = "['go/net-http','javascript/express:cluster']";
    let plan = resolve(&PLAN.replace(list, "'all'"), &PlanOptions::default()).unwrap();
    assert!(plan.every_target && plan.targets.is_empty());
    let named =
        PlanOptions { targets: Some(vec!["go/chi".parse().unwrap()]), ..PlanOptions::default() };
    let plan = resolve(&PLAN.replace(list, "'all'"), &named).unwrap();
    assert!(!plan.every_target && plan.targets.len() == 1);
    let error = resolve(&PLAN.replace(list, "'every'"), &PlanOptions::default()).unwrap_err();
    assert!(error.contains("or \"all\""), "{error}");
}

#[test]
fn keys_about_slices_are_known_where_they_say_something() {
    let key = |line: &str| {
        let text = PLAN.replace("workload=", &format!("{line}\nworkload="));
        resolve(&text, &PlanOptions::default()).unwrap().key_about_slices()
    };
    assert_eq!(key("slice='1s'"), Some("slice"));
    assert_eq!(key("extra_time='0%'"), Some("extra_time"));
    assert_eq!((key("extra_time='100%'"), key("")), (None, None));
}

#[test]
fn slips_are_named() {
    let cases = [
        (PLAN.replace("go/net-http", "go"), "`go` is not the name of a target"),
        (PLAN.replace("generator='1'", "generator='0-1'"), "overlap"),
        (PLAN.replace("javascript/express:cluster", "go/net-http"), "twice"),
        (PLAN.replace("'2%'", "'2'"), "precision: `2` is not a percentage"),
        (PLAN.replace("workload=", "worklaod="), "did you mean `workload`?"),
        (
            PLAN.replace("workload=", "workers=0\nworkload="),
            "workers must be at least 1; remove it for one per processor",
        ),
        (
            PLAN.replace("workload=", "database_pool=0\nworkload="),
            "database_pool must be at least 1; remove it for 20",
        ),
        (PLAN.replace("workload=", "repetitions=0\nworkload="), "repetitions must be at least 1"),
        (PLAN.replace("workload=", "slice='10ms'\nworkload="), "at least 100 ms"),
        (PLAN.replace("workload=", "slice='31s'\nworkload="), "at most the duration, 30 s"),
        (
            PLAN.replace("workload=", "slice='1s'\nworkload=")
                .replace("duration='30s'", "requests=5")
                .replace("duration='3s'", "requests=5"),
            "slice goes with loads that are measured in slices",
        ),
        (PLAN.replace("'2%'", "'0%'"), "precision must be above 0 % and below 100 %"),
        (PLAN.replace("'2%'", "'100%'"), "precision must be above 0 % and below 100 %"),
        (
            PLAN.replace("workload=", "errors_allowed='100%'\nworkload="),
            "errors_allowed must be below 100 %",
        ),
        (
            format!("{PLAN}[price]\nper_hour=0.0\ncores=2\ncurrency='EUR'\n"),
            "price.per_hour = 0 must be above 0",
        ),
        (
            format!("{PLAN}[price]\nper_hour=nan\ncores=2\ncurrency='EUR'\n"),
            "price.per_hour = NaN must be above 0",
        ),
        (
            format!("{PLAN}[price]\nper_hour=1.0\ncores=0\ncurrency='EUR'\n"),
            "price.cores must be at least 1",
        ),
        (format!("{PLAN}[price]\nper_hour=1.0\ncores=2\ncurrency=''\n"), "price.currency is empty"),
    ];
    for (text, message) in cases {
        let error = resolve(&text, &PlanOptions::default()).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let error =
        resolve(PLAN, &PlanOptions { scale: Some(0.1), ..PlanOptions::default() }).unwrap_err();
    assert!(error.contains("--scale goes with device plans only"));
}
