import io.pyroscope.labels.v2.LabelsSet;
import io.pyroscope.labels.v2.Pyroscope;
import java.util.ArrayList;
import java.util.List;

/** Program under Pyroscope's agent: java -javaagent:pyroscope.jar Shop.java SECONDS. */
public class Shop {
    static volatile double sink;
    static final List<byte[]> carts = new ArrayList<>();

    static void hotFunction() {
        double total = 0;
        for (int number = 0; number < 2_000_000; number++) {
            total += Math.sqrt(number);
        }
        sink = total;
    }

    public static void main(String[] arguments) throws InterruptedException {
        long end = System.currentTimeMillis() + Integer.parseInt(arguments[0]) * 1000L;
        while (System.currentTimeMillis() < end) {
            Pyroscope.LabelsWrapper.run(new LabelsSet("route", "/cart"), Shop::hotFunction);
            carts.add(new byte[20_000]);
            if (carts.size() > 500) {
                carts.clear();
            }
            Thread.sleep(2);
        }
    }
}
