import CoreData
import Foundation
import Testing

@testable import SwiftData

/// How types are kept: reference F1, F2, F3 (coders that are not by key: JSON), 3.1.5, 3.2.
@Suite struct AttributeFormTests {
    private static func form(_ type: Any.Type, _ defaultValue: Any? = nil) throws -> AttributeForm {
        try AttributeForm(of: type, at: AttributeForm.Place(name: "p", defaultValue: defaultValue))
    }

    /// `name:type?` of columns, composites in brackets.
    private static func text(_ form: AttributeForm) -> String {
        let optional = form.isOptional ? "?" : ""
        return switch form.kind {
        case .scalar(let type): "\(type.rawValue)\(optional)"
        case .json: "json\(optional)"
        case .transformable(let name): "transformable(\(name ?? "-"))\(optional)"
        case .composite(let elements):
            "[" + elements.map { "\($0.name):\(text($0.form))" }.joined(separator: " ") + "]\(optional)"
        }
    }

    static let expectations: [(type: Any.Type, text: String)] = [
        (Int.self, "300"), (Int64.self, "300"), (Int32.self, "200"), (Int16.self, "100"), (Int8.self, "100"),
        (UInt.self, "300"), (UInt64.self, "300"), (UInt32.self, "300"), (UInt16.self, "200"), (UInt8.self, "100"),
        (Bool.self, "800"), (Double.self, "500"), (Float.self, "600"), (String.self, "700"), (Date.self, "900"),
        (Data.self, "1000"), (UUID.self, "1100"), (URL.self, "1200"), (Decimal.self, "400"), (Int?.self, "300?"),
        (Data?.self, "1000?"),
        ([String].self, "transformable(NSSecureUnarchiveFromData)"),
        ([String]?.self, "transformable(NSSecureUnarchiveFromData)?"),
        ([Step].self, "json"), ([Decimal].self, "json"), ([Glass].self, "json"), ([[Int]].self, "json"),
        ([Int: String].self, "json"),
        (Glass.self, "[p:700?]"), (Glass?.self, "[p:700?]?"), (Level.self, "[p:300?]"),
        (Ice.self, "[cubed:700? crushed:700? none:700?]"), (Ice?.self, "[cubed:700? crushed:700? none:700?]?"),
        (Garnish.self, "json"), (Garnish?.self, "json?"),
        (Author.self, "[id:1100 person:700 year:700?]"), (Author?.self, "[id:1100? person:700? year:700?]?"),
        (Place.self, "[street:700 geo:[x:500 y:500?] floors:json glass:[glass:700?]]"),
        (Place?.self, "[street:700? geo:[x:500? y:500?]? floors:json? glass:[glass:700?]?]?"),
        (Renamed.self, "[first:700 second:700 isThird:800 isFourth:800]"),
        (Picky.self, "json"), (Tag.self, "json"), (Flags.self, "[rawValue:300]"),
        (DateInterval.self, "[start:900 duration:500]"), (CGPoint.self, "json"), (ClosedRange<Int>.self, "json"),
    ]

    @Test(arguments: expectations.indices)
    func typesHaveForms(_ index: Int) throws {
        let (type, text) = Self.expectations[index]
        #expect(Self.text(try Self.form(type)) == text, "\(type)")
    }

    @Test func defaultValueShowsWhatADecoderThatRefusesSamplesHas() throws {
        let text = Self.text(try Self.form(Picky.self, Picky(name: "x")))
        #expect(text == "[name:700 note:700?]")
    }

    static let values: [any (Codable & Equatable & Sendable)] = [
        Int.min, Int8(-5), UInt8(250), UInt64.max, UInt32.max, Float(0.1), 0.1, true, "Ö",
        Date(timeIntervalSinceReferenceDate: 0.25), Data([1, 2]), UUID(), Decimal(1234) / 100,
        URL(fileURLWithPath: "/a b/c"), Glass.coupe, Level.high, Garnish.fruit("lime"),
        Garnish.salt(rim: true, grams: 0.5), Garnish.none, Author(person: "Ann", year: nil),
        Author(person: "Ann", year: "1999"), [Step(step: 1, method: "stir")],
        Place(street: "High Street", geo: .init(x: 1.5, y: nil), floors: [1, 2], glass: .rocks),
        Renamed(first: "1", second: "2", isThird: true, isFourth: false), Tag("sour"), Flags([.open, .late]),
        Set(["a", "b"]), ["a": 1], [Date(timeIntervalSinceReferenceDate: 5)], [1.5], [true, false], [[1], []],
        [UUID()], [Data([7])], [URL(fileURLWithPath: "/x")],
        DateInterval(start: Date(timeIntervalSinceReferenceDate: 1), duration: 2),
    ]

    @Test(arguments: values.indices)
    func valuesComeBack(_ index: Int) throws {
        func check<T: Equatable>(_ value: T) throws {
            let form = try Self.form(T.self)
            #expect(try form.decode(form.encode(value)) as? T == value)
            let optional = try Self.form(T?.self)
            #expect(try optional.decode(optional.encode(Optional(value) as Any)) as? T == value)
            #expect(try optional.encode(T?.none as Any) == nil)
            #expect(try optional.decode(nil) as! T? == nil)
        }
        try check(Self.values[index])
    }

    @Test func structsAreEncodedByTheirPropertiesNames() throws {
        let encoded = try Self.form(Renamed.self).encode(
            Renamed(first: "1", second: "2", isThird: true, isFourth: false))
        let values = try #require(encoded as? [String: Any])
        #expect(values["first"] as? String == "1")
        #expect(values["second"] as? String == "2")
        #expect(values["isThird"] as? Bool == true)
        #expect(values["isFourth"] as? Bool == false)
    }

    @Test func casesAreEncodedByTheirNames() throws {
        #expect(try Self.form(Ice.self).encode(Ice.crushed) as? [String: String] == ["crushed": "crushed"])
        #expect(try Self.form(Glass.self).encode(Glass.rocks) as? [String: String] == ["p": "rocks"])
        guard case .none = try #require(try Self.form(Ice.self).decode(["none": "none"]) as? Ice) else {
            return #expect(Bool(false), "another case")
        }
    }

    @Test func storedValuesOfOtherTypesAreErrors() throws {
        #expect(throws: ValueMismatch.self) { try Self.form(Glass.self).decode(["p": "mug"]) }
        #expect(throws: ValueMismatch.self) { try Self.form(Int.self).decode(nil) }
        #expect(throws: ValueMismatch.self) { try Self.form(Int.self).decode("1") }
        #expect(throws: (any Error).self) { try Self.form(Author.self).decode(nil) }
        #expect(throws: (any Error).self) { try Self.form([Step].self).decode(Data("[".utf8)) }
    }

    final class Photo: Codable {}
    struct Album: Codable { var cover: Photo? }
    struct Bare {}

    /// A13: an error that names the member.
    @Test func typesThatCannotBeStoredAreErrors() throws {
        let classes = #expect(throws: UnsupportedType.self) { try Self.form(Album.self) }
        #expect(
            classes?.message(of: "Trip.album").hasPrefix(
                "Trip.album.cover is of type Photo, which cannot be stored: it is a class") == true)
        let bare = #expect(throws: UnsupportedType.self) { try Self.form(Bare.self) }
        #expect(bare?.message(of: "Trip.bare").contains("it is not Codable") == true)
        #expect(throws: UnsupportedType.self) { try Self.form((Int, Int).self) }
    }

    @Test func codableOptionMakesJSON() throws {
        let form = try AttributeForm(
            of: Photo?.self, at: AttributeForm.Place(name: "p"), options: Schema.Attribute(.codable))
        #expect(Self.text(form) == "json?")
    }
}
