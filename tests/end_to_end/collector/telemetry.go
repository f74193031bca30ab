package main

import (
	"go.opentelemetry.io/collector/service/telemetry"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func telemetryFactory() telemetry.Factory { return otelconftelemetry.NewFactory() }
