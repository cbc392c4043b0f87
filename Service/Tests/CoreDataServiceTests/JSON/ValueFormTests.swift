import CoreDataJSON
import Foundation
import Testing

@testable import CoreDataService

@Suite struct ValueFormTests {
    /// A value that is sent, and the text of what is answered.
    @Test(arguments: [
        (AttributeForm.integer(.integers), "9223372036854775807", "9223372036854775807"),
        (.integer(-32768...32767), "1.2e1", "12"),
        (.decimal(digits: 38), "12345678901234567890.123456789012345678", "12345678901234567890.123456789012345678"),
        (.decimal(digits: 38), "\"0.10\"", "0.1"), (.decimal(digits: 38), "-1e-3", "-0.001"),
        (.decimal(digits: 38), "0e5", "0"),
        (.double, "0.1", "0.1"), (.double, "1e300", "1e+300"), (.double, "2", "2"), (.float, "0.1", "0.1"),
        (.string, "\"\\u0001é\"", "\"\\u0001é\""), (.boolean, "true", "true"),
        (.date, "\"2024-05-01T12:00:00.25+02:00\"", "\"2024-05-01T10:00:00.25Z\""),
        (.date, "\"2024-02-29\"", "\"2024-02-29T00:00:00Z\""),
        (.date, "\"0001-01-01T00:00:00Z\"", "\"0001-01-01T00:00:00Z\""),
        (.date, "\"9999-12-31T23:59:59Z\"", "\"9999-12-31T23:59:59Z\""),
        (.bytes, "\"AQID\"", "\"AQID\""),
        (.uuid, "\"6f997b6b-0000-4000-8000-000000000001\"", "\"6F997B6B-0000-4000-8000-000000000001\""),
        (.uri, "\"https://example.com/a?b=c\"", "\"https://example.com/a?b=c\""),
        (
            .composite([
                ServedAttribute(name: "a", form: .string), ServedAttribute(name: "b", form: .decimal(digits: 38)),
            ]),
            "{\"b\":1.5}", "{\"a\":null,\"b\":1.5}"
        ),
        (.string, "null", "null"),
        (.double, "\"Infinity\"", "\"Infinity\""), (.float, "\"-Infinity\"", "\"-Infinity\""),
        (.date, "\"-Infinity\"", "\"-Infinity\""), (.date, "252423993600", "252423993600"),
        (.date, "-63113904000.5", "-63113904000.5"), (.date, "1e300", "1e+300"),
    ])
    func valuesKeepEverything(_ form: AttributeForm, _ sent: String, _ answered: String) throws {
        let value = try form.value(try JSONParser.parse(Array(sent.utf8)))
        #expect(JSONWriter.text(form.json(value)) == answered)
    }

    @Test(arguments: [
        (AttributeForm.integer(-32768...32767), "32768"), (.integer(.integers), "1.5"),
        (.integer(.integers), "9223372036854775808"),
        (.integer(.integers), "\"1\""), (.integer(.integers), "1e400"), (.decimal(digits: 38), "1e500"),
        (.decimal(digits: 38), "123456789012345678901234567890123456789"),
        (.decimal(digits: 15), "1234567890.123456"), (.decimal(digits: 38), "\"x\""), (.decimal(digits: 38), "\"NaN\""),
        (.double, "1e400"), (.double, "\"NaN\""), (.float, "1e39"),
        (.string, "1"),
        (.string, "\"a\\u0000\""), (.boolean, "1"), (.date, "\"2024-02-30\""), (.date, "\"2024-05-01T10:00:00\""),
        (.date, "1"), (.date, "252423993599"), (.date, "\"NaN\""), (.date, "1e400"), (.double, "\"infinity\""),
        (.integer(.integers), "\"Infinity\""),
        (.date, "\"2024-05-01T24:00:00Z\""), (.bytes, "\"?\""), (.uuid, "\"x\""), (.uri, "\"a b\""), (.uri, "\"\""),
        (.composite([ServedAttribute(name: "a", form: .string)]), "{\"b\":1}"), (.largeBytes, "\"AQID\""),
    ])
    func valuesThatLoseSomethingAreRefused(_ form: AttributeForm, _ sent: String) throws {
        let json = try JSONParser.parse(Array(sent.utf8))
        #expect(throws: ValueMistake.self) { try form.value(json) }
    }

    @Test(arguments: [
        (NSNumber(value: Int64.max), "9223372036854775807"), (NSNumber(value: Int64.min), "-9223372036854775808"),
        (NSNumber(value: 18_446_744_073_709_551_614.0), "1.8446744073709552e+19"),
        (NSNumber(value: 9_223_372_036_854_775_808.0), "9.223372036854776e+18"), (NSNumber(value: 3.0), "3"),
        (NSNumber(value: -1e30), "-1e+30"),
    ])
    func sumsKeepTheirSign(_ sum: NSNumber, _ answered: String) {
        #expect(JSONWriter.text(AttributeForm.integer(.integers).json(sum)) == answered)
    }

    @Test func anyDateIsReadBackAsItself() {
        var state: UInt64 = 7
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 11
        }
        for _ in 0..<3000 {
            let whole = Double(Int64(next() % 315_000_000_000) - 63_000_000_000)
            let seconds = next() % 3 == 0 ? whole : whole + Double(next() % 1_000_000_007) / 1_000_000_007
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let text = DateForm.text(date)
            #expect(text.flatMap(DateForm.date) == date, "\(seconds): \(text ?? "nil")")
        }
        for seconds in [0, -0.1, 0.1, -1e-9, 1e-300, 0.999_999_999_999_999_9, 736_250_400.1234567] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let text = DateForm.text(date)
            let back = text.flatMap(DateForm.date)
            // Below 1e-17 of a second nothing is written.
            #expect(
                abs((back?.timeIntervalSinceReferenceDate ?? .infinity) - seconds) < 1e-16,
                "\(seconds): \(text ?? "nil")")
        }
    }

    /// What a Swift client writes by hand.
    @Test func codableReadsObjects() throws {
        struct Item: Decodable, Equatable {
            var _id: UUID
            var name: String
            var price: Decimal?
            var big: Int64
            var day: Date
            var data: Data
            var unit: UUID?
        }
        let text = """
            {"_id":"6F997B6B-0000-4000-8000-000000000001","name":"Milk","price":12345678901234567890.25,"big":9223372036854775807,
            "day":"2024-05-01T10:00:00Z","data":"AQID","unit":null}
            """
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let item = try decoder.decode(Item.self, from: Data(text.utf8))
        #expect(item.price == Decimal(string: "12345678901234567890.25"))
        #expect(item.big == .max && item.data == Data([1, 2, 3]) && item.unit == nil)
    }
}
