"""Numbers with their unit in the schema, so that no tool ever leaves one unsaid."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Minutes = Annotated[int, Meta(description="minutes")]
Hours = Annotated[float, Meta(description="hours")]
Days = Annotated[int, Meta(description="days")]
Percent = Annotated[float, Meta(description="percent")]
Ratio = Annotated[float, Meta(description="ratio, no unit")]
Count = Annotated[int, Meta(ge=0, description="count")]
Dollars = Annotated[float, Meta(description="US dollars")]
Cents = Annotated[int, Meta(description="US cents")]
Euros = Annotated[float, Meta(description="euros")]
Kilometres = Annotated[float, Meta(description="kilometres")]
Metres = Annotated[float, Meta(description="metres")]
Kilograms = Annotated[float, Meta(description="kilograms")]
Litres = Annotated[float, Meta(description="litres")]
Hectares = Annotated[float, Meta(description="hectares")]
Celsius = Annotated[float, Meta(description="degrees Celsius")]
Millimetres = Annotated[float, Meta(description="millimetres")]
Bar = Annotated[float, Meta(description="bar")]
KiloWattHours = Annotated[float, Meta(description="kilowatt-hours")]
