//! What a collector receives, and what happens without one.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a failure here is the test's message
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use pippin_model::result::time_series::{Moment, SCHEMA};
use pippin_otlp::Exporter;
use pippin_testing::scripted::{Answer, Script, spawn};
use prost::Message;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

fn moment(goodput: f64, p99_ms: Option<u64>) -> Moment {
    Moment {
        schema: SCHEMA,
        run: "r".into(),
        unix_ns: 0,
        target: "own/shop".parse().unwrap(),
        repetition: 1,
        step: None,
        round: None,
        from_ns: 0,
        duration_ns: 1_000_000_000,
        offered_per_s: None,
        sent_per_s: Some(goodput),
        throughput_per_s: Some(goodput),
        goodput_per_s: Some(goodput),
        errors: 2,
        response_p50_ns: p99_ms.map(|ms| ms * 500_000),
        response_p90_ns: None,
        response_p99_ns: p99_ms.map(|ms| ms * 1_000_000),
        response_max_ns: None,
        send_lag_p99_ns: None,
        live_connections: 4,
        bytes_in: 0,
        bytes_out: 0,
        target_cores: Some(0.5),
        generator_cores: None,
        target_memory_bytes: Some(1_048_576),
    }
}

/// Name and quantile of each figure of an export, with its value.
fn figures(request: &ExportMetricsServiceRequest) -> BTreeMap<String, f64> {
    let scopes = request.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    let mut all = BTreeMap::new();
    for metric in scopes.flat_map(|scope| &scope.metrics) {
        let Some(Data::Gauge(gauge)) = &metric.data else { panic!("{metric:?}") };
        for point in &gauge.data_points {
            let Some(Value::AsDouble(value)) = point.value else { panic!("{point:?}") };
            let of = |key: &str| {
                let found = point.attributes.iter().find(|attribute| attribute.key == key);
                found.map(|attribute| format!("{:?}", attribute.value))
            };
            assert!(of("pippin.target").unwrap().contains("own/shop"), "{point:?}");
            let quantile = ["0.5", "0.9", "0.99"].into_iter().find(|quantile| {
                of("quantile").is_some_and(|text| text.contains(&format!("\"{quantile}\"")))
            });
            all.insert(format!("{} {}", metric.name, quantile.unwrap_or_default()), value);
        }
    }
    all
}

#[test]
fn each_window_is_an_export_that_holds_what_is_known_of_it_alone() {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bodies);
    let collector = spawn(Script::each(move |request, _| {
        let end = request.bytes.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8_lossy(&request.bytes[..end]).to_string();
        kept.lock().unwrap().push((head, request.bytes[end..].to_vec()));
        Answer::ok(b"")
    }))
    .unwrap();
    let mut exporter = Exporter::start(&format!("http://{}", collector.address())).unwrap();
    exporter.see(moment(100.0, Some(20)));
    exporter.see(moment(50.0, None));
    exporter.finish().unwrap();
    collector.stop().unwrap();
    let bodies = bodies.lock().unwrap();
    let exports: Vec<_> = bodies
        .iter()
        .map(|(head, body)| {
            assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
            assert!(head.to_lowercase().contains("content-type: application/x-protobuf"), "{head}");
            figures(&ExportMetricsServiceRequest::decode(body.as_slice()).unwrap())
        })
        .filter(|figures| !figures.is_empty())
        .collect();
    assert_eq!(exports.len(), 2, "{exports:?}");
    let first = &exports[0];
    assert_eq!((first["pippin.goodput "], first["pippin.errors "]), (100.0, 2.0));
    assert_eq!(
        (first["pippin.response_time 0.5"], first["pippin.response_time 0.99"]),
        (0.01, 0.02)
    );
    assert_eq!((first["pippin.target.cpu "], first["pippin.target.memory "]), (0.5, 1_048_576.0));
    assert!(!first.contains_key("pippin.offered ") && !first.contains_key("pippin.generator.cpu "));
    let second = &exports[1];
    assert_eq!(second["pippin.goodput "], 50.0);
    assert!(!second.keys().any(|name| name.starts_with("pippin.response_time")), "{second:?}");
}

#[test]
fn a_collector_that_refuses_or_is_not_there_is_told_with_its_count() {
    let collector = spawn(Script::always(Answer::new(503, b"busy"))).unwrap();
    for url in [format!("http://{}", collector.address()), "http://127.0.0.1:9".into()] {
        let mut exporter = Exporter::start(&url).unwrap();
        exporter.see(moment(100.0, None));
        exporter.see(moment(100.0, None));
        let told = exporter.finish().unwrap_err().to_string();
        assert!(told.starts_with("2 of 2 windows did not reach the collector: "), "{told}");
    }
    assert!(Exporter::start("ftp://x").unwrap_err().to_string().contains("http://localhost:4318"));
}
