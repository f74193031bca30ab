"""Language of a request: the cookie of /account/language, else the browser's languages."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers


class LanguageMiddleware(LocaleMiddleware):
    """Django's middleware, with a language that ends with its request.

    Threads are shared with requests of the API, whose texts are English.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        response = super().process_response(request, response)
        patch_vary_headers(response, ["Cookie"])
        translation.deactivate()
        return response
