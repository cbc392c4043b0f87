import Foundation
import SwiftData
import Testing

/// What predicates find in a store (D10, D11): relationships that are nil (complaint 7), chains of two optionals (complaint 8), conditions
/// (complaint 10), enumerations (complaint 11).
struct PredicateTests {
    private static let oslo = "Oslo"
    private static let codes = ["F", "C"]
    private static let since = Date(timeIntervalSinceReferenceDate: 150)

    static let table: [(String, Predicate<Trip>, String)] = [
        ("comparison", #Predicate { $0.days > 3 }, "FL"),
        ("and, or, not", #Predicate { !($0.days > 3 && $0.isPaid) || $0.name == "Fjords" }, "CFL"),
        ("arithmetic", #Predicate { $0.days * 2 + 1 == 9 }, "L"),
        ("captured array", #Predicate { codes.contains($0.code) }, "CF"),
        ("text contains", #Predicate { $0.name.contains("ake") }, "CL"),
        ("starts with", #Predicate { $0.name.starts(with: "Fj") }, "F"),
        ("is not empty", #Predicate { !$0.name.isEmpty }, "CFL"),
        ("is empty compared with false", #Predicate { $0.stops.isEmpty == false }, "FL"),
        ("optional chaining", #Predicate { $0.guide?.name == "Ann" }, "L"),
        ("chain of two optionals", #Predicate { $0.guide?.boss?.name == "Ann" }, "F"),
        ("coalescing", #Predicate { ($0.country ?? "none") == "none" }, "C"),
        ("optional attribute is nil", #Predicate { $0.country == nil }, "C"),
        ("optional relationship is nil", #Predicate { $0.guide == nil }, "C"),
        ("optional relationship is not nil", #Predicate { $0.guide != nil }, "FL"),
        // F's guide is Bea, who guides F; L's is Ann, who guides L.
        ("optional to-many contains where", #Predicate { $0.guide?.trips?.contains { $0.days > 4 } ?? false }, "F"),
        ("optional to-many is not nil", #Predicate { $0.guide?.trips != nil }, "FL"),
        ("optional to-many is nil", #Predicate { $0.guide?.trips == nil }, "C"),
        ("if let", #Predicate { if let country = $0.country { country == "Norway" } else { false } }, "F"),
        ("flatMap", #Predicate { $0.country.flatMap { $0 == "Finland" } ?? false }, "L"),
        ("ternary", #Predicate { ($0.isPaid ? $0.days : 0) > 1 }, "CF"),
        ("date", #Predicate { $0.start > since }, "CL"),
        ("decimal", #Predicate { $0.price > 200 }, "FL"),
        ("to-many contains where", #Predicate { $0.stops.contains { $0.nights > 3 } }, "L"),
        ("to-many filter", #Predicate { !$0.stops.filter { $0.nights == 2 }.isEmpty }, "F"),
        ("to-many count", #Predicate { $0.stops.count == 2 }, "F"),
        ("enumeration with raw value", #Predicate { $0.mood.rawValue == "wild" }, "F"),
        ("member of a struct", #Predicate { $0.address.city == oslo }, "CL"),
        ("optional member of a struct", #Predicate { $0.address.street == nil }, "CL"),
    ]

    @Test("A store finds", arguments: table.indices)
    func finds(_ row: Int) throws {
        let (name, predicate, codes) = Self.table[row]
        #expect(try Trips().codes(predicate) == codes, "\(name)")
    }

    /// An enumeration compared with a case is its raw value, or its case's column, in SQL.
    @Test func enumerationsAreComparedWithCases() throws {
        let trips = try Trips()
        let wild = Mood.wild
        let dark = Shade.dark
        let bergen = Address(city: "Bergen", street: "Bryggen")
        #expect(try trips.codes(#Predicate { $0.mood == wild }) == "F")
        #expect(try trips.codes(#Predicate { $0.mood != wild }) == "CL")
        #expect(try trips.codes(#Predicate { $0.shade == dark }) == "F")
        #expect(try trips.codes(#Predicate { $0.address == bergen }) == "F")
    }

    @Test func identifiersAndModelsAreConstants() throws {
        let trips = try Trips()
        let all = try trips.context.fetch(FetchDescriptor<Trip>())
        let fjords = try #require(all.first { $0.code == "F" })
        let id = fjords.persistentModelID
        let guide = try #require(fjords.guide).persistentModelID
        #expect(try trips.codes(#Predicate { $0.persistentModelID == id }) == "F")
        #expect(try trips.codes(#Predicate { $0.guide?.persistentModelID == guide }) == "F")
        let ids = all.filter { $0.isPaid }.map(\.persistentModelID)
        #expect(try trips.codes(#Predicate { ids.contains($0.persistentModelID) }) == "CF")
    }

    /// D11, complaint 9: what a store cannot follow is an error that names the part.
    @Test func unsupportedPredicatesAreErrors() throws {
        let trips = try Trips()
        let error = try #require(throws: SwiftDataError.self) { try trips.codes(#Predicate { $0.label == "x" }) }
        #expect(error == .unsupportedPredicate)
        #expect(error.explanation?.contains("no property of a model") == true)
    }
}
