// Timing functions shared by both pages.

export const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

/** Resolve after the next picture is on the screen. */
export const painted = () =>
  new Promise((done) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = done;
      port2.postMessage(0);
    });
  });

export async function timed(deed) {
  const began = performance.now();
  deed();
  await painted();
  return performance.now() - began;
}
