import CoreDataPrimitives
import Foundation

@testable import CoreDataPredicate

/// An object with properties, for predicates to look into.
final class Thing: PredicateObject, @unchecked Sendable {
    // Safe because nothing changes after init.
    let name: String
    let properties: [String: Operand]

    init(_ name: String, _ properties: [String: Operand] = [:]) {
        self.name = name
        self.properties = properties
    }

    func predicateOperand(forKey key: String) throws -> Operand {
        if let value = properties[key] { return value }
        throw PredicateFailure(.evaluation, Diagnostic(.error, "the entity Thing has no key '\(key)'"))
    }

    func isSamePredicateObject(as other: any PredicateObject) -> Bool { (other as? Thing)?.name == name }
    var predicateHash: Int { name.hashValue }
    var predicateDescription: String { "<Thing \(name)>" }
    func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}

extension Operand: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral
{
    public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: Operand...) { self = .collection(elements, isOrdered: true) }
}

func object(_ thing: Thing) -> Operand { .object(thing) }

/// A book with an author and loans.
let book: Thing = {
    let author = Thing(
        "author", ["name": "Ursula Le Guin", "age": 88, "country": nil, "awards": ["Hugo", "Nebula", nil]])
    func loan(_ days: Int64, _ fine: Operand, _ reader: String) -> Operand {
        object(
            Thing(
                "loan-\(days)",
                ["days": .value(.integer(days)), "fine": fine, "reader": .value(.string(reader)), "tags": ["x", "y"]]))
    }
    return Thing(
        "book",
        [
            "title": "The Dispossessed", "pages": 387, "price": .value(.decimal(Decimal(string: "9.99") ?? 0)),
            "rating": 4.5, "subtitle": nil, "isLent": 1, "isSold": 0, "empty": "", "wild": "a*b",
            "published": .value(.date(-836_000_000)), "isbn": .value(.string("978-0-06")),
            "cover": .value(.data(Data([1, 2, 255]))),
            "id": .value(.uuid(UUID(uuidString: "3F2504E0-4F89-11D3-9A0C-0305E82C3301") ?? UUID())),
            "link": .value(.uri("https://example.org/books/1.html")), "author": object(author), "editor": nil,
            "loans": .collection([loan(3, 1.5, "Ann"), loan(10, nil, "Bob"), loan(7, 0.5, "Émile")], isOrdered: false),
            "reviews": [], "chapters": ["One", "Two", "Three"], "size": 20, "first": "f", "in": "i",
            "my key": 5, "accent": "Crème Brûlée", "numbers": [3, 1, 2, 2], "nested": [[1, 2], [3]], "nothing": nil,
            "dictionary": .dictionary([(key: "a", value: 1), (key: "b", value: "two")]),
        ])
}()

func parse(_ format: String, _ arguments: [FormatArgument] = []) throws -> PredicateNode {
    try PredicateParser.parse(format: format, arguments: arguments)
}

func evaluate(_ format: String, _ object: Operand = .object(book), _ variables: [String: Operand] = [:]) throws -> Bool
{
    try PredicateEvaluator(parse(format)).evaluate(object, in: EvaluationFrame(variables: variables, now: 800_000_000))
}

/// A generator with a fixed seed, so that a failure repeats.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
