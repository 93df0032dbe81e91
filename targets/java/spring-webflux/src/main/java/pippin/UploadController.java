package pippin;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Digests bodies as they come. */
@RestController
public class UploadController {
  @PostMapping(path = "/upload", produces = MediaType.TEXT_PLAIN_VALUE)
  public Mono<String> upload(ServerHttpRequest request) throws NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    return request
        .getBody()
        .reduce(0L, (length, piece) -> length + update(digest, piece))
        .map(length -> length + " " + HexFormat.of().formatHex(digest.digest()));
  }

  private static int update(MessageDigest digest, DataBuffer piece) {
    int length = piece.readableByteCount();
    try (var buffers = piece.readableByteBuffers()) {
      buffers.forEachRemaining(digest::update);
    } finally {
      DataBufferUtils.release(piece);
    }
    return length;
  }
}
