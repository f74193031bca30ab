import java.text.SimpleDateFormat;
import java.time.format.DateTimeFormatter;
import java.time.LocalDateTime;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** Programs that waste CPU time in one way each; usage: java Wastes NAME. */
public final class Wastes {
    private static final Pattern WORDS = Pattern.compile("(\\w+)-(\\d+)");
    private static final DateTimeFormatter MINUTES = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm");
    private static final Map<String, Integer> LINES = new HashMap<>();
    private static volatile Object last; // so that the compiler leaves nothing out

    public static void main(String[] arguments) {
        for (int i = 0; i < 200; i++) {
            LINES.put("line " + i, i);
        }
        Runnable round =
                switch (arguments[0]) {
                    case "regexCompile" -> () -> last = "order-17".replaceAll("(\\w+)-(\\d+)", "$2");
                    case "stringFormat" -> () -> last = String.format("%s has %d of %.2f", "order", 17, 2.5);
                    case "dateFormat" -> () -> last = new SimpleDateFormat("yyyy-MM-dd HH:mm").format(new Date(0));
                    case "exceptions" -> Wastes::refuse;
                    case "plainWork" -> Wastes::work;
                    default -> throw new IllegalArgumentException(arguments[0]);
                };
        while (true) {
            round.run();
        }
    }

    private static final class OrderException extends RuntimeException {
        OrderException(Map<String, Integer> lines) {
            super("order without a price: " + lines);
        }
    }

    private static void refuse() {
        try {
            throw new OrderException(LINES); // with all lines in its message
        } catch (OrderException exception) {
            last = exception.getMessage();
        }
    }

    /** Does the same things without their waste. */
    private static void work() {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            String text = "order-" + i;
            counts.merge(WORDS.matcher(text).replaceAll("$2"), i, Integer::sum);
            counts.merge(MINUTES.format(LocalDateTime.of(2026, 1, 2, 3, i % 60)), i, Integer::sum);
        }
        last = counts;
    }
}
