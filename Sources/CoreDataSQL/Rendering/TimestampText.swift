import CoreDataPrimitives

/// Writes a time as a constant of a schema, with microseconds: `2001-01-01 00:00:00.500000+00`.
enum TimestampText {
    static func text(_ seconds: Double) -> String {
        guard let moment = Microseconds(seconds) else { return seconds < 0 ? "-infinity" : "infinity" }
        let (days, rest) = floorDivision(moment.count, 86_400_000_000)
        let (year, month, day) = date(ofDay: days)
        let (second, microsecond) = floorDivision(rest, 1_000_000)
        let clock = [second / 3600, second / 60 % 60, second % 60].map { digits($0, 2) }.joined(separator: ":")
        return "\(digits(year > 0 ? year : 1 - year, 4))-\(digits(month, 2))-\(digits(day, 2)) \(clock)."
            + "\(digits(microsecond, 6))+00" + (year > 0 ? "" : " BC")
    }

    private static func floorDivision(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// Returns the date of a day counted from 2001-01-01, in the proleptic Gregorian calendar of databases; the year
    /// before 1 is 0.
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Eras of 400 years start on the first of March, so that leap days come last.
        let (era, dayOfEra) = floorDivision(day + 730_791, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
