/** Tell of a passkey that the browser did not use, for example because the person cancelled. */

document.addEventListener('allauth.error', (event) => {
  event.preventDefault(); // no error on the console
  document.getElementById('passkey-error')?.removeAttribute('hidden');
});
