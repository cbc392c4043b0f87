import Foundation
import SwiftData

enum Glass: String, Codable, Sendable, CaseIterable { case highball, coupe, rocks }
enum Level: Int, Codable {
    case low = 1
    case high = 10
}
enum Ice: Codable, Equatable { case cubed, crushed, none }
enum Garnish: Codable, Equatable {
    case none
    case fruit(String)
    case salt(rim: Bool, grams: Double)
}

struct Author: Codable, Equatable {
    var id = UUID()
    var person: String
    var year: String?
}

struct Step: Codable, Equatable {
    var step: Int
    var method: String
}

struct Place: Codable, Equatable {
    var street: String
    var geo: Geo
    var floors: [Int]
    var glass: Glass

    struct Geo: Codable, Equatable {
        var x: Double
        var y: Double?
    }
}

/// Coding keys that are not called as the properties are.
struct Renamed: Codable, Equatable {
    var first: String
    var second: String
    var isThird: Bool
    var isFourth: Bool

    enum CodingKeys: String, CodingKey {
        case first = "b"
        case second = "a"
        case isThird = "fourth"
        case isFourth = "third"
    }
}

/// A decoder that refuses made-up values.
struct Picky: Codable, Equatable {
    var name: String
    var note: String?

    init(name: String, note: String? = nil) {
        self.name = name
        self.note = note
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        note = try container.decodeIfPresent(String.self, forKey: .note)
        struct Empty: Error {}
        if name.isEmpty { throw Empty() }
    }
}

/// Coded as one value.
struct Tag: Codable, Equatable {
    var text: String

    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

struct Flags: OptionSet, Codable, Equatable {
    var rawValue: Int
    static let open = Flags(rawValue: 1)
    static let late = Flags(rawValue: 4)
}
