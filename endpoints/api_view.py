"""The base of the API's views: REST framework's dispatch on the event loop alone."""

from typing import Any

import orjson
from adrf.views import APIView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from endpoints.error_responses import reject
from endpoints.errors import WrongMethod


class WireView(APIView):  # type: ignore[misc]  # adrf is untyped
    http_method_names = ["get", "post"]

    async def async_dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        """adrf's, less the permissions and throttles (ours are in the views), which it asks in a
        thread, and less the rendering, which Django does in another."""
        self.request = self.initialize_request(request, *args, **kwargs)
        method = (request.method or "").lower()
        known = method in self.http_method_names
        handler = getattr(self, method, None) if known else None
        try:
            if handler is None:
                raise WrongMethod(" and ".join(self.allowed_methods))
            response: HttpResponseBase = await handler(self.request, *args, **kwargs)
        except Exception as error:
            return self.handle_exception(error)
        return response

    def handle_exception(self, error: Exception) -> HttpResponseBase:
        return reject(error)


def json_response(answer: object, status: int = 200) -> HttpResponse:
    return HttpResponse(orjson.dumps(answer), status=status, content_type="application/json")
