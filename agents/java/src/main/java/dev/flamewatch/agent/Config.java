package dev.flamewatch.agent;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Settings of the agent, from its options first and environment variables second.
 *
 * @param url address of the server, without a trailing slash
 */
record Config(String url, String key, String project, String service, String version, String zone) {
    static final String OWN_PROJECT = "-"; // the project that the key belongs to

    private static final Pattern SERVICE = Pattern.compile("[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?");
    private static final Pattern PROJECT = Pattern.compile("[a-z0-9][-a-z0-9.:]{0,127}|-");
    private static final Pattern KEY = Pattern.compile("[!-~]{8,4096}");
    private static final int LONGEST_LABEL = 512; // bytes

    /** Reads {@code name=value} pairs separated by commas, as they follow {@code -javaagent:…jar=}. */
    static Config read(String options, Map<String, String> env) {
        Map<String, String> given = new HashMap<>();
        for (String pair : options == null ? new String[0] : options.split(",")) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                given.put(pair.substring(0, equals).trim(), pair.substring(equals + 1));
            }
        }
        String foreign = first(env.get("K_SERVICE"), env.get("GAE_SERVICE"), env.get("OTEL_SERVICE_NAME"));
        String url = first(given.get("url"), env.get("FLAMEWATCH_URL"));
        String project = first(given.get("project"), env.get("FLAMEWATCH_PROJECT"));
        return new Config(
                url.replaceAll("/+$", ""),
                first(given.get("key"), env.get("FLAMEWATCH_KEY")),
                project.isEmpty() ? OWN_PROJECT : project,
                first(given.get("service"), env.get("FLAMEWATCH_SERVICE"), nearestService(foreign)),
                first(given.get("version"), env.get("FLAMEWATCH_VERSION"), env.get("K_REVISION"), env.get("GAE_VERSION")),
                first(given.get("zone"), env.get("FLAMEWATCH_ZONE")));
    }

    /** Returns the errors of this configuration. None contains the key. */
    List<String> problems() {
        List<String> found = new ArrayList<>();
        if (key.isEmpty()) {
            found.add("no API key: set FLAMEWATCH_KEY or the option key");
        } else if (!KEY.matcher(key).matches()) {
            found.add("invalid API key (FLAMEWATCH_KEY or the option key): wrong characters or length");
        }
        if (url.isEmpty()) {
            found.add("no server address: set FLAMEWATCH_URL or the option url");
        } else if (!isAddress(url)) {
            // The address is not repeated: it may contain a password.
            found.add("invalid server address (FLAMEWATCH_URL or the option url): use https://HOST or https://HOST:PORT,"
                    + " optionally with a path");
        }
        if (service.isEmpty()) {
            found.add("no service name: set FLAMEWATCH_SERVICE or the option service");
        } else if (!SERVICE.matcher(service).matches()) {
            String near = nearestService(service);
            found.add("invalid service name " + shown(service) + ": use lower-case letters, digits, '-', '_' and '.', at"
                    + " most 255" + (near.isEmpty() ? "" : ", for example " + shown(near)));
        }
        if (!PROJECT.matcher(project).matches()) {
            found.add("invalid project id " + shown(project) + ": omit it, the API key identifies the project");
        }
        addLabelProblem(found, "version", version);
        addLabelProblem(found, "zone", zone);
        return found;
    }

    private static void addLabelProblem(List<String> found, String name, String value) {
        if (value.chars().anyMatch(Character::isISOControl)) {
            found.add("the " + name + " contains a control character");
        }
        int size = value.getBytes(StandardCharsets.UTF_8).length;
        if (size > LONGEST_LABEL) {
            found.add("the " + name + " has " + size + " bytes; the limit is " + LONGEST_LABEL);
        }
    }

    private static boolean isAddress(String text) {
        try {
            URI address = new URI(text);
            boolean isWeb = "http".equals(address.getScheme()) || "https".equals(address.getScheme());
            boolean isPlain = address.getUserInfo() == null && address.getQuery() == null && address.getFragment() == null;
            return isWeb && isPlain && address.getHost() != null;
        } catch (URISyntaxException error) {
            return false;
        }
    }

    private static String first(String... texts) {
        for (String text : texts) {
            if (text != null && !text.isBlank()) {
                return text.strip();
            }
        }
        return "";
    }

    static String nearestService(String name) {
        String valid = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_.-]+", "-");
        valid = valid.substring(0, Math.min(255, valid.length()));
        return valid.replaceAll("^[-_.]+|[-_.]+$", "");
    }

    private static String shown(String text) {
        return "\"" + text.substring(0, Math.min(80, text.length())) + "\"";
    }

    @Override
    public String toString() {
        return "Config[" + service + " at " + url + "]"; // without the key
    }
}
