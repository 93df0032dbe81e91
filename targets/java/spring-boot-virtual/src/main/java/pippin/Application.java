package pippin;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Pippin's workloads on Spring Boot. */
@SpringBootApplication
public class Application {
  public static void main(String[] arguments) {
    SpringApplication application = new SpringApplication(Application.class);
    application.setDefaultProperties(Settings.from(System.getenv()));
    application.run(arguments);
  }
}
