package pippin;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Digests bodies as they come. */
@RestController
public class UploadController {
  @PostMapping(path = "/upload", produces = MediaType.TEXT_PLAIN_VALUE)
  public String upload(InputStream body) throws IOException, NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] buffer = new byte[64 * 1024];
    long length = 0;
    for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
      digest.update(buffer, 0, read);
      length += read;
    }
    return length + " " + HexFormat.of().formatHex(digest.digest());
  }
}
