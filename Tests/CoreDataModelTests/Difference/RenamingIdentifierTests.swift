import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// Statement T4, as a table: what each entity or property of a newer version comes from.
@Suite struct RenamingIdentifierTests {
    /// Names with their renaming identifiers, `b(a)`, between two versions; what comes from what, `b → c`.
    struct Case: Sendable, CustomTestStringConvertible {
        var old: String
        var new: String
        var expected: String

        init(_ old: String, _ new: String, _ expected: String) {
            (self.old, self.new, self.expected) = (old, new, expected)
        }

        var testDescription: String { "\(old) | \(new)" }
    }

    private static let cases: [Case] = [
        // Apple's rule: the identifier, or the name where there is none.
        .init("a", "a", "a → a"),
        .init("a", "b(a)", "a → b"),
        .init("b(a)", "b(a)", "b → b"),
        .init("b(a)", "c(a)", "b → c"),
        .init("b(x)", "c(x)", "b → c"),
        .init("b(a)", "a", "b → a"),
        .init("a(a)", "b(a)", "a → b"),
        .init("a", "a(a)", "a → a"),
        // A chain whose version between was never in the store.
        .init("a", "c(a)", "a → c"),
        // Names that change places, in a circle, or go from one to the next.
        .init("a b", "a(b) b(a)", "a → b, b → a"),
        .init("a b c", "b(a) c(b) a(c)", "a → b, b → c, c → a"),
        .init("a b", "b(a) c(b)", "a → b, b → c"),
        .init("a(b) b(a)", "a(b) b(a)", "a → a, b → b"),
        .init("a(b) b(a)", "b a", "a → b, b → a"),
        // One that takes the name of another, which goes.
        .init("a b", "a(b)", "b → a"),
        // A new one that takes the name of one that was renamed; it says so by an identifier of its own.
        .init("a", "b(a) a(new)", "a → b"),
        .init("a", "a(new) b(a)", "a → b"),
        // An identifier that is another's name: that of the identifier is meant.
        .init("a b(a)", "c(a)", "b → c"),
        .init("a b(a)", "a b(a)", "a → a, b → b"),
        // What the rule leaves goes by name: it loses nothing.
        .init("b(a)", "c(b)", "b → c"),
        .init("b(a)", "b", "b → b"),
        .init("b", "b(a)", "b → b"),
        .init("b(a) c", "b(c)", "c → b"),
        .init("b(a)", "c(b) d(a)", "b → d"),
        .init("b(a)", "b d(a)", "b → d"),
        .init("a", "b(nothing)", ""),
        .init("a", "b", ""),
    ]

    private static func parts(_ text: String) -> [(name: String, identifier: String?)] {
        text.split(separator: " ").map { part in
            let parts = part.split(whereSeparator: { "()".contains($0) }).map(String.init)
            return (parts[0], parts.count > 1 ? parts[1] : nil)
        }
    }

    private func side(_ document: ModelDocument) throws -> ModelPairing.Side {
        .init(try ModelCompiler.compile(document), document: document)
    }

    private func check(
        _ given: Case, _ make: ([(name: String, identifier: String?)]) -> ModelDocument,
        _ pairs: (ModelMapping) -> [(String, String)]
    ) throws {
        let mapping = ModelMapping(
            ModelPairing(old: try side(make(Self.parts(given.old))), new: try side(make(Self.parts(given.new)))))
        let found = pairs(mapping).sorted { $0 < $1 }.map { "\($0.0) → \($0.1)" }.joined(separator: ", ")
        #expect(found == given.expected)
    }

    private func properties(of entity: String) -> (ModelMapping) -> [(String, String)] {
        { mapping in
            guard let new = mapping.destination.entity(named: entity), let old = mapping.source(of: new.ordinal) else {
                return []
            }
            return new.properties.compactMap { property in
                guard let slot = mapping.sourceSlot(of: property.slot, in: new.ordinal) else { return nil }
                return (mapping.source.entities[old].properties[slot].name, property.name)
            }
        }
    }

    @Test("T4: attributes", arguments: Self.cases)
    func attributes(given: Case) throws {
        try check(
            given,
            { parts in
                model(
                    EntityElement(name: "Book").with {
                        $0.properties = parts.map { part in
                            attribute(part.name).with { $0.renamingIdentifier = part.identifier }
                        }
                    })
            }, properties(of: "Book"))
    }

    @Test("T4: attributes that an entity inherits", arguments: Self.cases)
    func inheritedAttributes(given: Case) throws {
        try check(
            given,
            { parts in
                model(
                    EntityElement(name: "Book").with {
                        $0.properties = parts.map { part in
                            attribute(part.name).with { $0.renamingIdentifier = part.identifier }
                        }
                    }, entity("Comic", parent: "Book"))
            }, properties(of: "Comic"))
    }

    @Test("T4: relationships, to-one, to-many and ordered", arguments: Self.cases)
    func relationships(given: Case) throws {
        for kind in 0..<3 {
            try check(
                given,
                { parts in
                    model(
                        EntityElement(name: "Book").with {
                            $0.properties = parts.map { part in
                                let made =
                                    kind == 0
                                    ? toOne(part.name, "Tag") : toMany(part.name, "Tag", ordered: kind == 2)
                                return made.with { $0.renamingIdentifier = part.identifier }
                            }
                        }, entity("Tag", attribute("name")))
                }, properties(of: "Book"))
        }
    }

    @Test("T4: elements of composite attributes", arguments: Self.cases)
    func elements(given: Case) throws {
        try check(
            given,
            { parts in
                var element = AttributeElement(type: .composite)
                element.elements = parts.map { part in
                    attribute(part.name).with { $0.renamingIdentifier = part.identifier }
                }
                return model(entity("Book", PropertyElement(name: "place", kind: .attribute(element))))
            },
            { mapping in
                properties(of: "Book")(mapping).filter { $0.0.contains(".") }.map {
                    (String($0.0.dropFirst("place.".count)), String($0.1.dropFirst("place.".count)))
                }
            })
    }

    @Test("T4: entities, alone and below another", arguments: Self.cases)
    func entities(given: Case) throws {
        for parent in [nil, "Root"] {
            try check(
                given,
                { parts in
                    var document = model()
                    document.entities = parts.map { part in
                        entity(part.name.uppercased(), parent: parent).with {
                            $0.renamingIdentifier = part.identifier?.uppercased()
                        }
                    }
                    if parent != nil { document.entities.append(entity("Root")) }
                    return document
                },
                { mapping in
                    mapping.entities.compactMap { pair in
                        guard let old = pair.source, let new = pair.destination else { return nil }
                        let names = (mapping.source.entities[old].name, mapping.destination.entities[new].name)
                        return names.0 == "Root" ? nil : (names.0.lowercased(), names.1.lowercased())
                    }
                })
        }
    }

    @Test("T4: what two claim that no version before had is refused; what both were before is not")
    func claims() throws {
        func document(_ text: String) -> ModelDocument {
            model(
                EntityElement(name: "Book").with {
                    $0.properties = Self.parts(text).map { part in
                        attribute(part.name).with { $0.renamingIdentifier = part.identifier }
                    }
                })
        }
        for (old, new, count) in [("a", "a b(a)", 1), ("a", "b(a) c(a)", 1), ("a b(a)", "a b(a) c", 0)] {
            let inference = MappingInference(
                ModelPairing(old: try side(document(old)), new: try side(document(new))))
            #expect(inference.obstacles.map(\.kind) == Array(repeating: .ambiguous, count: count), "\(old) | \(new)")
        }
    }

    @Test("T4: an empty renaming identifier is none")
    func emptyIdentifiers() throws {
        func document(_ name: String) -> ModelDocument {
            model(
                entity("Book", attribute(name).with { $0.renamingIdentifier = "" }).with { $0.renamingIdentifier = "" },
                entity("Tag", attribute("name")).with { $0.renamingIdentifier = "" })
        }
        let mapping = try ModelMapping.inferred(from: side(document("title")), to: side(document("title")))
        #expect(mapping.entities.map(\.source) == [0, 1])
        #expect(mapping.sourceSlot(of: 0, in: 0) == 0)
    }

    @Test("T4: an identifier that names nothing is told with what has it")
    func strayIdentifiers() throws {
        let old = model(entity("Book", attribute("title"), attribute("isbn")))
        let new = model(
            entity(
                "Book", attribute("name").with { $0.renamingIdentifier = "titel" },
                attribute("isbn").with { $0.renamingIdentifier = "code" }),
            entity("Shelf").with { $0.renamingIdentifier = "Rack" })
        let mapping = try ModelMapping.inferred(from: side(old), to: side(new))
        #expect(mapping.strayIdentifiers.map(\.subject) == ["Shelf", "Book.isbn", "Book.name"])
        #expect(mapping.strayIdentifiers.map(\.identifier) == ["Rack", "code", "titel"])
        #expect(mapping.strayIdentifiers.map(\.isWithoutSource) == [true, false, true])
        let withoutBooks = try ModelMapping.inferred(from: side(old), to: side(new), where: { $0 != 0 })
        #expect(withoutBooks.strayIdentifiers.map(\.subject) == ["Shelf"])
    }

    @Test("T4: new elements of a renamed composite have no identifier that names nothing; others of its elements may")
    func strayIdentifiersOfElements() throws {
        func document(_ composite: PropertyElement) -> ModelDocument { model(entity("Shop", composite)) }
        let old = document(composite("place", attribute("street"), attribute("city")))
        func strays(_ new: PropertyElement) throws -> [MappingInference.StrayIdentifier] {
            try ModelMapping.inferred(from: side(old), to: side(document(new))).strayIdentifiers
        }
        let renamed = composite("address", attribute("street"), attribute("zip"))
            .with { $0.renamingIdentifier = "place" }
        #expect(try strays(renamed) == [])
        let wrong = composite(
            "address", attribute("street"), attribute("town").with { $0.renamingIdentifier = "village" },
            attribute("capital").with { $0.renamingIdentifier = "city" }
        ).with { $0.renamingIdentifier = "place" }
        #expect(
            try strays(wrong) == [
                .init(subject: "Shop.address.town", identifier: "place.village", isWithoutSource: true)
            ])
        // The composite's own identifier is told once, not with each element.
        let unknown = composite("address", attribute("street"), attribute("city"))
            .with { $0.renamingIdentifier = "spot" }
        #expect(
            try strays(unknown) == [.init(subject: "Shop.address", identifier: "spot", isWithoutSource: true)])
    }
}
