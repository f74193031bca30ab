"""Base class of API views: REST framework's dispatch without threads."""

from typing import Any

import orjson
from adrf.views import APIView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from endpoints.error_responses import reject
from endpoints.errors import WrongMethod
from endpoints.nul import require_no_nul


class WireView(APIView):  # type: ignore[misc]  # adrf is untyped
    http_method_names = ["get", "post"]

    async def async_dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        """Dispatch without two steps of adrf that start threads.

        adrf checks permissions and throttles in a thread (the views here do this themselves), and
        Django renders the response in another.
        """
        self.request = self.initialize_request(request, *args, **kwargs)
        method = request.method or ""
        try:
            if method not in self.allowed_methods:
                raise WrongMethod(*self.allowed_methods)
            require_no_nul(
                (name, value) for name, values in request.GET.lists() for value in values
            )
            response: HttpResponseBase = await getattr(self, method.lower())(
                self.request, *args, **kwargs
            )
        except Exception as error:
            return self.handle_exception(error)
        return response

    def handle_exception(self, error: Exception) -> HttpResponseBase:
        return reject(error)


def json_response(body: object, status: int = 200) -> HttpResponse:
    return HttpResponse(orjson.dumps(body), status=status, content_type="application/json")
