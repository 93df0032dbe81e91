//! What the skeleton of each language is made of.

/// A server made with what its language brings, and what its manifest says of it.
pub struct Skeleton {
    /// The folder below `targets/`.
    pub language: &'static str,
    /// What runs the server.
    pub runtime: &'static str,
    /// What the server serves. A workload is left out where the language has no means for it.
    pub workloads: &'static [&'static str],
    /// `[needs]`.
    pub needs: &'static str,
    /// `steps` of `[install]`.
    pub steps: &'static str,
    /// `command` of `[start]`.
    pub command: &'static str,
    /// `[versions]`.
    pub version: &'static str,
    /// What `.gitignore` names besides `.pippin`.
    pub ignored: &'static str,
    /// Names and texts of the source files.
    pub files: &'static [(&'static str, &'static str)],
}

/// Every language that has one.
pub const SKELETONS: [Skeleton; 10] = [
    Skeleton {
        language: "c",
        runtime: "native",
        workloads: &["hello"],
        needs: "tools = [\"cc\"]\napt = [\"gcc\", \"libc6-dev\"]",
        steps: r#"[["cc", "-O2", "-pthread", "-o", "server", "server.c"]]"#,
        command: r#"["./server"]"#,
        version: r#"cc = ["cc", "--version"]"#,
        ignored: "/server\n",
        files: &[("server.c", include_str!("c/server.c"))],
    },
    Skeleton {
        language: "csharp",
        runtime: "dotnet",
        workloads: &["hello", "json", "compressed", "static", "upload"],
        needs: "tools = [\"dotnet >= 10.0\"]\napt = []",
        steps: r#"[["dotnet", "publish", "-c", "Release", "-o", "bin/publish", "-p:UseSharedCompilation=false", "-nodeReuse:false"]]"#,
        command: r#"["dotnet", "bin/publish/server.dll"]"#,
        version: r#"dotnet = ["dotnet", "--version"]"#,
        ignored: "/bin\n/obj\n",
        files: &[
            ("Program.cs", include_str!("csharp/Program.cs")),
            ("server.csproj", include_str!("csharp/server.csproj")),
        ],
    },
    Skeleton {
        language: "go",
        runtime: "go",
        workloads: &["hello", "json", "static", "upload"],
        needs: "tools = [\"go >= 1.22\"]\napt = []",
        steps: r#"[["go", "build", "-o", "bin/server", "."]]"#,
        command: r#"["bin/server"]"#,
        version: r#"go = ["go", "version"]"#,
        ignored: "/bin\n",
        files: &[
            ("main.go", include_str!("go/main.go")),
            ("items.go", include_str!("go/items.go")),
            ("go.mod", include_str!("go/go.mod.txt")),
        ],
    },
    Skeleton {
        language: "java",
        runtime: "jvm",
        workloads: &["hello", "upload"],
        needs: "tools = [\"java >= 17\", \"javac\"]\napt = [\"default-jdk-headless\"]",
        steps: r#"[["javac", "-d", "classes", "Server.java"]]"#,
        command: r#"["java", "-cp", "classes", "Server"]"#,
        version: r#"java = ["java", "-version"]"#,
        ignored: "/classes\n",
        files: &[("Server.java", include_str!("java/Server.java"))],
    },
    Skeleton {
        language: "javascript",
        runtime: "node",
        workloads: &["hello", "json", "upload"],
        needs: "tools = [\"node >= 18\"]\napt = [\"nodejs\", \"npm\"]",
        steps: r#"[] # [["npm", "ci", "--omit=dev"]]"#,
        command: r#"["node", "server.js"]"#,
        version: r#"node = ["node", "--version"]"#,
        ignored: "/node_modules\n",
        files: &[
            ("server.js", include_str!("javascript/server.js")),
            ("items.js", include_str!("javascript/items.js")),
            ("package.json", include_str!("javascript/package.json")),
        ],
    },
    Skeleton {
        language: "perl",
        runtime: "perl",
        workloads: &["hello", "json", "upload"],
        needs: "tools = [\"perl\", \"starman\"]\napt = [\"perl\", \"starman\"]",
        steps: r#"[["perl", "-c", "app.psgi"]]"#,
        command: r#"["starman", "--listen", "{HOST}:{PORT}", "--workers", "{WORKERS}", "--env", "production", "app.psgi"]"#,
        version: r#"starman = ["perl", "-MStarman", "-e", "print Starman->VERSION"]"#,
        ignored: "/local\n",
        files: &[("app.psgi", include_str!("perl/app.psgi"))],
    },
    Skeleton {
        language: "php",
        runtime: "php",
        workloads: &["hello", "json", "upload"],
        needs: "tools = [\"php >= 8.0\"]\napt = [\"php-cli\"]",
        steps: r#"[["php", "-l", "index.php"]]"#,
        // By default PHP takes bodies of up to 8 MiB.
        command: r#"["php", "-q", "-d", "post_max_size=20M", "-S", "{HOST}:{PORT}", "index.php"]"#,
        version: r#"php = ["php", "--version"]"#,
        ignored: "/vendor\n",
        files: &[("index.php", include_str!("php/index.php"))],
    },
    Skeleton {
        language: "python",
        runtime: "cpython",
        workloads: &["hello", "json"],
        needs: "tools = [\"python3 >= 3.9\"]\napt = [\"python3\", \"python3-venv\"]",
        steps: r#"[["python3", "-m", "venv", ".venv"]]"#,
        command: r#"[".venv/bin/python", "server.py"]"#,
        version: r#"python = [".venv/bin/python", "--version"]"#,
        ignored: "/.venv\n__pycache__/\n",
        files: &[("server.py", include_str!("python/server.py"))],
    },
    Skeleton {
        language: "ruby",
        runtime: "ruby",
        workloads: &["hello", "json", "compressed", "static", "upload"],
        needs: "tools = [\"ruby\", \"puma\"]\napt = [\"ruby\", \"puma\"]",
        steps: r#"[["ruby", "-c", "config.ru"]]"#,
        command: r#"["puma", "--quiet", "--environment", "production", "--bind", "tcp://{HOST}:{PORT}", "config.ru"]"#,
        version: r#"ruby = ["ruby", "--version"]"#,
        ignored: "/vendor\n",
        files: &[("config.ru", include_str!("ruby/config.ru"))],
    },
    Skeleton {
        language: "rust",
        runtime: "native",
        workloads: &["hello"],
        needs: "tools = [\"cargo\"]\napt = [\"cargo\", \"rustc\"]",
        steps: r#"[["cargo", "build", "--release", "--target-dir", "target"]]"#,
        command: r#"["target/release/server"]"#,
        version: r#"rustc = ["rustc", "--version"]"#,
        // The lock file belongs to the repository as soon as something is locked.
        ignored: "/target\n/Cargo.lock\n",
        files: &[
            ("src/main.rs", include_str!("rust/main.rs.txt")),
            ("Cargo.toml", include_str!("rust/Cargo.toml.txt")),
        ],
    },
];
