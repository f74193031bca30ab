import java.util.concurrent.CountDownLatch;
import one.profiler.AsyncProfiler;

/** Allocates small objects, or enters monitors, on two threads under async-profiler; see README.md. */
public class SmallObjects {
  interface Work {
    void runUntil(long endMillis);
  }

  record Point(long x, long y) {}

  record Cart(long total) {}

  static final Object FIRST = new Object();
  static final Object SECOND = new StringBuilder();
  static volatile Object last;
  static int spins;

  static void newPoint() {
    last = new Point(spins, 2);
  }

  static void newCart() {
    last = new Cart(spins);
  }

  static void enterFirst() {
    synchronized (FIRST) {
      spin();
    }
  }

  static void enterSecond() {
    synchronized (SECOND) {
      spin();
    }
  }

  static void spin() {
    long end = System.nanoTime() + 100_000;
    while (System.nanoTime() < end) spins++;
  }

  static void allocate(long endMillis) {
    while (System.currentTimeMillis() < endMillis) {
      for (int i = 0; i < 1000; i++) {
        newPoint();
        newCart();
      }
    }
  }

  static void lock(long endMillis) {
    while (System.currentTimeMillis() < endMillis) {
      enterFirst();
      enterSecond();
    }
  }

  /** Arguments: allocate or lock, the library, the file, and options such as total. */
  public static void main(String[] arguments) throws Exception {
    boolean allocates = arguments[0].equals("allocate");
    Work work = allocates ? SmallObjects::allocate : SmallObjects::lock;
    work.runUntil(System.currentTimeMillis() + 50); // what only the first run allocates
    AsyncProfiler profiler = AsyncProfiler.getInstance(arguments[1]);
    CountDownLatch start = new CountDownLatch(1);
    long[] end = new long[1];
    Runnable task =
        () -> {
          try {
            start.await();
          } catch (InterruptedException error) {
            throw new IllegalStateException(error);
          }
          work.runUntil(end[0]);
        };
    Thread[] threads = {new Thread(task), new Thread(task)};
    for (Thread thread : threads) thread.start();
    profiler.execute(allocates ? "start,event=alloc" : "start,event=lock");
    end[0] = System.currentTimeMillis() + 1000;
    start.countDown();
    for (Thread thread : threads) thread.join();
    String options = arguments.length > 3 ? "," + arguments[3] : "";
    profiler.execute("stop,otlp,file=" + arguments[2] + options);
  }
}
