package dev.flamewatch.agent;

import dev.flamewatch.agent.Client.Assignment;
import dev.flamewatch.agent.Client.ErrorResponse;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/** The agent: a daemon thread with a loop of handshake, capture and upload. */
public final class Agent {
    private static final String THREAD = "flamewatch-agent";
    // The threads that java.net.http starts for the agent are in it, too.
    private static final ThreadGroup GROUP = new ThreadGroup(THREAD);
    private static final int MOST_OWN_THREADS = 256; // far more than java.net.http starts for one request at a time
    private static final double PACE = 0.5; // seconds between a profile and the next handshake
    private static final int UPLOAD_ATTEMPTS = 6;
    private static final double FIRST_RETRY = 2; // seconds; doubled each time, unless the server sets the delay
    private static final double LONGEST_RETRIES = 600; // seconds in total
    private static final int FAILURES_OF_A_TYPE = 3; // consecutive; then the type is no longer offered

    private final Config config;
    private final Client client;
    private final Sampler sampler = new Sampler();
    private final Backoff backoff = new Backoff(Agent::random);
    private final Backoff lost = new Backoff(Agent::random);
    private final Outage outage = new Outage(Agent::log); // of the server
    private final Outage losses = new Outage(Agent::log); // of profiles; ends with the next upload
    private final Map<String, Integer> failures = new HashMap<>();

    private Agent(Config config) {
        this.config = config;
        this.client = new Client(config);
    }

    /** Called by the JVM for {@code -javaagent:flamewatch-agent.jar=service=checkout,version=1.4.2}. */
    public static void premain(String options, Instrumentation instrumentation) {
        start(options);
    }

    /** Called by the JVM when the agent is attached to a running program. */
    public static void agentmain(String options, Instrumentation instrumentation) {
        start(options);
    }

    private static void start(String options) {
        Config config = Config.read(options, System.getenv());
        List<String> problems = config.problems();
        if (!problems.isEmpty()) {
            log("profiling is off: " + String.join("; ", problems));
            return;
        }
        Thread thread = new Thread(GROUP, () -> profile(config), THREAD);
        thread.setDaemon(true);
        thread.start();
    }

    /** Runs the agent; its thread also loads the HTTP client, for which the start of the program does not wait. */
    private static void profile(Config config) {
        try {
            new Agent(config).run();
        } catch (RuntimeException | LinkageError error) { // such as a runtime image without JFR or java.net.http
            log("profiling is off: " + error + ". The program is not affected.");
        }
    }

    /** Returns the ids of the agent's threads. */
    static Set<Long> ownThreads() {
        Thread[] threads = new Thread[MOST_OWN_THREADS];
        int count = GROUP.enumerate(threads);
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < count; i++) {
            ids.add(threads[i].getId());
        }
        return ids;
    }

    private static void log(String line) {
        System.err.println("flamewatch: " + line); // logging libraries are not set up yet when the agent starts
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    private void run() {
        try {
            sleep(random());
            while (true) {
                List<String> types = types();
                if (types.isEmpty()) {
                    log("profiling stopped: no profile type can be captured. The program is not affected.");
                    return;
                }
                sleep(round(types));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the types to offer, without those that failed repeatedly. */
    private List<String> types() {
        return Sampler.TYPES.stream()
                .filter(type -> failures.getOrDefault(type, 0) < FAILURES_OF_A_TYPE)
                .toList();
    }

    /** Does one handshake and serves its request. Returns the pause until the next handshake in seconds. */
    private double round(List<String> types) throws InterruptedException {
        Assignment assignment;
        try {
            assignment = client.handshake(types);
        } catch (IOException error) {
            return afterError(error);
        }
        backoff.succeed();
        outage.over(config.url());
        Pprof profile;
        byte[] encoded;
        try {
            profile = sampler.capture(assignment.type(), assignment.duration());
            encoded = profile.encode();
        } catch (IOException | RuntimeException | LinkageError error) {
            failures.merge(assignment.type(), 1, Integer::sum);
            losses.failed(assignment.type(), "capturing a " + assignment.type() + " profile failed: " + text(error) + ".");
            return lost.next(null);
        }
        failures.remove(assignment.type());
        double duration = profile.seconds() > 0 ? profile.seconds() : assignment.duration();
        try {
            upload(new Assignment(assignment.name(), assignment.type(), duration), encoded);
        } catch (IOException error) {
            losses.failed("upload", "profile not uploaded: " + text(error) + ".");
            return lost.next(delay(error));
        }
        lost.succeed();
        losses.forget();
        return PACE;
    }

    /** Uploads a profile, with retries through a short outage. */
    private void upload(Assignment assignment, byte[] profile) throws IOException, InterruptedException {
        double waited = 0;
        for (int attempt = 0; ; attempt++) {
            try {
                client.upload(assignment, profile);
                return;
            } catch (IOException error) {
                Double delay = delay(error);
                double pause = delay == null ? FIRST_RETRY * Math.pow(2, attempt) : delay;
                pause *= 1 + 0.1 * random();
                waited += pause;
                if (!isWorthAnother(error) || attempt == UPLOAD_ATTEMPTS - 1 || waited > LONGEST_RETRIES) {
                    throw error;
                }
                sleep(pause);
            }
        }
    }

    /** Returns false for permanent errors: the same bytes get the same one again. */
    private static boolean isWorthAnother(IOException error) {
        return !(error instanceof ErrorResponse response) || response.status >= 500 || response.status == 408;
    }

    private static Double delay(IOException error) {
        return error instanceof ErrorResponse response ? response.retryAfter : null;
    }

    /** Logs the first error of each kind in an outage, and returns the pause in seconds. */
    private double afterError(IOException error) {
        String server = config.url();
        if (!(error instanceof ErrorResponse response)) {
            return failed("server", "cannot send profiles to " + server + ": " + text(error), backoff.next(null));
        }
        Double delay = response.retryAfter;
        if (response.status == 409) {
            outage.over(server);
            if (delay != null) {
                backoff.succeed();
            }
            return backoff.next(delay);
        }
        if (response.status == 401 || response.status == 403) {
            String line = "API key rejected by " + server + " (" + text(error) + ")";
            return failed("key", line, backoff.nextLong(delay));
        }
        if (isWorthAnother(error)) {
            return failed("server", "cannot send profiles to " + server + ": " + text(error), backoff.next(delay));
        }
        return failed("request", "request rejected by " + server + " (" + text(error) + ")", backoff.next(delay));
    }

    private double failed(String kind, String line, double pause) {
        outage.failed(kind, line + " (retry in " + Math.round(pause) + " s).");
        return pause;
    }

    private static String text(Throwable error) {
        String message = error.getMessage();
        return Client.oneLine(message == null ? error.getClass().getSimpleName() : message);
    }

    private static void sleep(double seconds) throws InterruptedException {
        Thread.sleep(Math.round(seconds * 1000));
    }
}
