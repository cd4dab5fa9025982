internal import BudgetCore

/// Rounded down, saturating.
func milliseconds(_ duration: Duration) -> Int64 {
    Int64(duration.wholeMilliseconds)
}

/// Rounded up, saturating.
func millisecondsUp(_ duration: Duration) -> Int64 {
    let whole = milliseconds(duration)
    return whole < .max && .milliseconds(whole) < duration ? whole + 1 : whole
}
