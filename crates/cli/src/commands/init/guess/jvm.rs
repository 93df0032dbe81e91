//! The JVM: Maven and Gradle. Spring Boot reads its port from `SERVER_PORT`; `PORT` is there too.
use super::{Folder, Guess, between, quoted_after};

pub fn maven(folder: &Folder<'_>) -> Option<Guess> {
    let pom = folder.text("pom.xml")?;
    // Names within these elements are those of other projects.
    let own = ["parent", "dependencies", "dependencyManagement", "build"]
        .iter()
        .fold(pom.clone(), |text, element| without(&text, element));
    let tag = |text: &str, name: &str| {
        between(text, &format!("<{name}>"), &format!("</{name}>")).map(|it| it.trim().to_string())
    };
    let parent = between(&pom, "<parent>", "</parent>").unwrap_or_default();
    let version = tag(&own, "version").or_else(|| tag(parent, "version"));
    let jar = tag(&pom, "finalName")
        .or_else(|| Some(format!("{}-{}", tag(&own, "artifactId")?, version?)))?;
    let program = if folder.has("mvnw") { "sh mvnw" } else { "mvn" };
    let guess = Guess::new(format!("java -jar target/{jar}.jar"));
    Some(
        guess
            .built_by([format!("{program} -q -B package -DskipTests")])
            .with("SERVER_PORT", "{PORT}"),
    )
}

pub fn gradle(folder: &Folder<'_>) -> Option<Guess> {
    let either = |name: &str| folder.text(name).or_else(|| folder.text(&format!("{name}.kts")));
    let build = either("build.gradle")?;
    let settings = either("settings.gradle").unwrap_or_default();
    let own_name = || folder.0.file_name().and_then(|name| name.to_str());
    let name = quoted_after(&settings, "rootProject.name").or_else(own_name)?;
    let program = if folder.has("gradlew") { "sh gradlew" } else { "gradle" };
    let (task, command) = if build.contains("org.springframework.boot") {
        let version =
            quoted_after(&build, "version").map(|it| format!("-{it}")).unwrap_or_default();
        ("bootJar", format!("java -jar build/libs/{name}{version}.jar"))
    } else {
        ("installDist", format!("build/install/{name}/bin/{name}"))
    };
    let step = format!("{program} --no-daemon {task}");
    Some(Guess::new(command).built_by([step]).with("SERVER_PORT", "{PORT}"))
}

/// The text without the first element of this name.
fn without(text: &str, element: &str) -> String {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    match text.split_once(&open) {
        Some((before, rest)) => {
            format!("{before}{}", rest.split_once(&close).map_or("", |(_, after)| after))
        }
        None => text.into(),
    }
}
