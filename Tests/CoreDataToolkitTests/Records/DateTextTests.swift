import Foundation
import Testing

@testable import CoreDataToolkit

@Suite struct DateTextTests {
    @Test(arguments: [
        (0, "2001-01-01T00:00:00Z"),
        (-1, "2000-12-31T23:59:59Z"),
        (0.25, "2001-01-01T00:00:00.25Z"),
        (737_057_646.843063, "2024-05-10T18:14:06.843063Z"),
        (-978_307_200, "1970-01-01T00:00:00Z"),
        (-978_307_200.5, "1969-12-31T23:59:59.5Z"),
        (5_097_599, "2001-02-28T23:59:59Z"),
        (99_792_000, "2004-03-01T00:00:00Z"),
        (-63_113_904_000, "0001-01-01T00:00:00Z"),
        (252_423_993_599, "252423993599.0"),
    ])
    func datesAreWrittenInUTC(time: Double, text: String) {
        #expect(DateText.text(Date(timeIntervalSinceReferenceDate: time)) == text)
    }

    @Test(arguments: [
        ("2024-05-01", 736_214_400.0),
        ("2024-05-01T12:30Z", 736_259_400.0),
        ("2024-05-01 12:30:05", 736_259_405.0),
        ("2024-05-01T12:30:05.5+02:00", 736_252_205.5),
        ("2024-05-01T12:30:05-0130", 736_264_805.0),
        ("2000-02-29", -26_524_800.0),
    ])
    func datesAreRead(text: String, time: Double) {
        #expect(DateText.date(text)?.timeIntervalSinceReferenceDate == time)
    }

    /// Foundation has it as the first moment of the year 1, by a calendar that is two days behind the Gregorian one.
    @Test func distantPastIsTheBeginningOfTheYear1() {
        #expect(DateText.text(.distantPast) == "0001-01-01T00:00:00Z")
        #expect(DateText.date(DateText.text(.distantPast)) == .distantPast)
        #expect(DateText.date("0001-01-01") == .distantPast)
        for time in [Date.distantPast.addingTimeInterval(1), .distantFuture, Date(timeIntervalSince1970: -1e10)] {
            #expect(DateText.date(DateText.text(time)) == time)
        }
    }

    @Test(arguments: [
        "", "today", "2024-13-01", "2024-02-30", "2023-02-29", "2024-05-01T25:00Z", "2024-05-01T12:60", "01.05.2024",
        "2024-05-01T12:30:05 +2", "2024-05-01T12:30:05Zx",
    ])
    func whatIsNoDateIsRefused(text: String) {
        #expect(DateText.date(text) == nil)
    }

    @Test func everyDateReadsBackAsItWas() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let time = Double.random(in: -3e9...3e9, using: &generator)
            let date = Date(timeIntervalSinceReferenceDate: time)
            #expect(DateText.date(DateText.text(date)) == date, "\(time)")
        }
    }
}
