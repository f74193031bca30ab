package dev.flamewatch.agent;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;

/** Client of the two API calls of an agent. */
final class Client {
    static final String VERSION = "0.3.0";

    private static final Duration PARKED = Duration.ofSeconds(120); // servers park a handshake for about 50 s
    private static final Duration UPLOAD = Duration.ofSeconds(60);
    private static final double LONGEST_CAPTURE = 120;
    private static final int MAX_RESPONSE_BYTES = 1 << 20;
    private static final Pattern NAME =
            Pattern.compile("projects/[A-Za-z0-9_.:~-]{1,256}/profiles/[A-Za-z0-9_.:~=-]{1,1024}");
    private static final Pattern DURATION = Pattern.compile("\\d{1,9}(\\.\\d{1,9})?s");

    /** Capture request of the server; the duration in seconds. */
    record Assignment(String name, String type, double duration) {}

    /** Response with an error status; 409 means that no profile is requested now. */
    static final class ErrorResponse extends IOException {
        private static final long serialVersionUID = 1;
        final int status;
        final transient Double retryAfter; // seconds; null if the response has no delay

        ErrorResponse(int status, String text, Double retryAfter) {
            super((status + " " + text).strip());
            this.status = status;
            this.retryAfter = retryAfter;
        }
    }

    private final Config config;
    private final String host = hostname();
    private final String id = UUID.randomUUID().toString();
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .followRedirects(HttpClient.Redirect.NEVER) // a redirect would send the key to another address
            .build();

    Client(Config config) {
        this.config = config;
    }

    /** Offers types and waits for a capture request. Throws ErrorResponse for an error status. */
    Assignment handshake(List<String> types) throws IOException, InterruptedException {
        Map<String, Object> message = Map.of("deployment", deployment(), "profileType", types);
        String body = send("POST", "/v2/projects/" + config.project() + "/profiles", message, PARKED);
        return readAssignment(body, types);
    }

    /** Uploads a profile (gzipped pprof). Throws ErrorResponse for an error status. */
    void upload(Assignment assignment, byte[] profile) throws IOException, InterruptedException {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("name", assignment.name());
        message.put("profileType", assignment.type());
        message.put("deployment", deployment());
        message.put("duration", String.format(Locale.ROOT, "%.3fs", assignment.duration()));
        message.put("profileBytes", Base64.getEncoder().encodeToString(profile));
        message.put("labels", Map.of("instance", host));
        send("PATCH", "/v2/" + assignment.name(), message, UPLOAD);
    }

    private Map<String, Object> deployment() {
        Map<String, Object> labels = new LinkedHashMap<>();
        labels.put("language", "java");
        if (!config.version().isEmpty()) {
            labels.put("version", config.version());
        }
        if (!config.zone().isEmpty()) {
            labels.put("zone", config.zone());
        }
        Map<String, Object> message = new LinkedHashMap<>();
        if (!config.project().equals(Config.OWN_PROJECT)) {
            message.put("projectId", config.project());
        }
        message.put("target", config.service());
        message.put("labels", labels);
        return message;
    }

    private String send(String method, String path, Map<String, Object> message, Duration timeout)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(config.url() + path))
                .method(method, HttpRequest.BodyPublishers.ofString(Json.write(message)))
                .timeout(timeout)
                .header("Authorization", "Bearer " + config.key())
                .header("Content-Type", "application/json")
                .header("User-Agent", "flamewatch-java/" + VERSION)
                .header("X-Flamewatch-Agent", id)
                .header("X-Flamewatch-Host", host)
                .build();
        HttpResponse<InputStream> response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
        byte[] bytes;
        try (InputStream stream = response.body()) {
            bytes = stream.readNBytes(MAX_RESPONSE_BYTES + 1);
        }
        if (bytes.length > MAX_RESPONSE_BYTES) {
            throw new IOException("the response is larger than " + MAX_RESPONSE_BYTES + " bytes");
        }
        String body = new String(bytes, StandardCharsets.UTF_8);
        if (response.statusCode() != 200) {
            String header = response.headers().firstValue("Retry-After").orElse("");
            throw readError(response.statusCode(), body, header);
        }
        return body;
    }

    static Assignment readAssignment(String body, List<String> offered) throws IOException {
        Map<?, ?> message = object(body);
        if (!(message.get("name") instanceof String name) || !NAME.matcher(name).matches()) {
            throw new IOException("invalid response: no profile name");
        }
        if (!(message.get("profileType") instanceof String type) || !offered.contains(type)) {
            throw new IOException("invalid response: a profile type that was not offered");
        }
        Double duration = seconds(message.get("duration"));
        if (duration == null || duration > LONGEST_CAPTURE) {
            throw new IOException("invalid response: no valid duration");
        }
        return new Assignment(name, type, duration);
    }

    /** Decodes a google.rpc.Status, or any other body that a proxy may send. */
    static ErrorResponse readError(int status, String body, String retryAfter) {
        Double delay = retryAfter.matches("\\d{1,6}") ? Double.valueOf(retryAfter) : null;
        String text = "";
        if (object(body).get("error") instanceof Map<?, ?> error) {
            text = error.get("message") instanceof String message ? oneLine(message) : "";
            List<?> details = error.get("details") instanceof List<?> list ? list : List.of();
            for (Object detail : details) {
                Double found = detail instanceof Map<?, ?> map ? seconds(map.get("retryDelay")) : null;
                if (found != null) {
                    return new ErrorResponse(status, text, found);
                }
            }
        }
        return new ErrorResponse(status, text, delay);
    }

    private static Map<?, ?> object(String body) {
        try {
            return Json.parse(body) instanceof Map<?, ?> message ? message : Map.of();
        } catch (IllegalArgumentException error) {
            return Map.of();
        }
    }

    /** Parses google.protobuf.Duration in its JSON form, such as "10s"; null if it is none. */
    private static Double seconds(Object text) {
        boolean isDuration = text instanceof String string && DURATION.matcher(string).matches();
        return isDuration ? Double.valueOf(((String) text).replace("s", "")) : null;
    }

    static String oneLine(String text) {
        String line = text.replaceAll("\\p{Cntrl}+", " ");
        return line.substring(0, Math.min(500, line.length()));
    }

    private static String hostname() {
        try {
            String name = InetAddress.getLocalHost().getHostName().replaceAll("[^!-~]+", "-");
            return name.substring(0, Math.min(255, name.length()));
        } catch (UnknownHostException error) {
            String name = System.getenv("HOSTNAME"); // set by most shells and container runtimes
            return name == null || name.isBlank() ? "unknown" : name;
        }
    }
}
