import CoreData
import Foundation

/// Makes values for one attribute of an entity.
struct ValueMaker {
    private let attribute: NSAttributeDescription
    private let entity: String
    private let seed: UInt64
    private let bounds: ValueBounds
    private let predicates: [NSPredicate]
    /// Whether no two objects may share a value.
    private let isUnique: Bool
    /// What the user makes of a number.
    private let custom: (@Sendable (Int) -> Any?)?
    /// How often another value is tried where validation refuses one.
    private static let tries = 60

    /// `nil` for an attribute that nobody sets.
    init?(
        _ attribute: NSAttributeDescription, of entity: NSEntityDescription, seed: UInt64, isUnique: Bool = false,
        custom: (@Sendable (Int) -> Any?)?
    ) {
        guard !attribute.isTransient, !(attribute is NSDerivedAttributeDescription) else { return nil }
        self.attribute = attribute
        self.entity = entity.name ?? ""
        self.seed = seed
        self.custom = custom
        predicates = attribute.validationPredicates
        bounds = ValueBounds(attribute.validationPredicates)
        var isUnique = isUnique
        var owner: NSEntityDescription? = entity
        while let current = owner {
            isUnique =
                isUnique || current.uniquenessConstraints.contains { $0.contains { $0 as? String == attribute.name } }
            owner = current.superentity
        }
        self.isUnique = isUnique
    }

    var name: String { attribute.name }

    /// The value of the object with that number.
    ///
    /// - Throws: a ``ToolkitError`` where no value was found that validation allows.
    func value(_ index: Int) throws -> Any? {
        if let custom { return custom(index) }
        var numbers = SeededNumbers(seed: seed, [entity, attribute.name], index)
        // One in ten is left out, where that may be.
        if attribute.isOptional, !isUnique, numbers.below(10) == 0 { return nil }
        for attempt in 0..<Self.tries {
            guard let value = candidate(index, attempt, &numbers) else {
                if attribute.isOptional || attribute.defaultValue != nil { return attribute.defaultValue }
                throw ToolkitError(
                    "\(entity).\(attribute.name): no value of its type can be made up; give values[\"\(entity).\(attribute.name)\"]."
                )
            }
            if predicates.allSatisfy({ $0.evaluate(with: value) }) { return value }
        }
        if attribute.isOptional { return nil }
        throw ToolkitError(
            """
            \(entity).\(attribute.name): no value was found that its validation allows \
            (\(predicates.map { "\($0)" }.joined(separator: ", "))); give values["\(entity).\(attribute.name)"].
            """)
    }

    private func candidate(_ index: Int, _ attempt: Int, _ numbers: inout SeededNumbers) -> Any? {
        if !bounds.choices.isEmpty {
            return bounds.choices[isUnique ? index % bounds.choices.count : numbers.below(bounds.choices.count)]
        }
        switch attribute.attributeType {
        case .integer16AttributeType: return integer(index, limit: Double(Int16.max), &numbers)
        case .integer32AttributeType: return integer(index, limit: Double(Int32.max), &numbers)
        case .integer64AttributeType: return integer(index, limit: 9e15, &numbers)
        case .doubleAttributeType, .floatAttributeType:
            return NSNumber(value: isUnique ? Double(index) + 0.5 : (real(&numbers) * 100).rounded() / 100)
        case .decimalAttributeType:
            let hundredths = isUnique ? index * 100 : Int((real(&numbers) * 100).rounded())
            return NSDecimalNumber(decimal: Decimal(hundredths) / 100)
        case .stringAttributeType: return text(index, &numbers)
        case .booleanAttributeType: return NSNumber(value: numbers.below(2) == 1)
        case .dateAttributeType: return date(index, &numbers)
        case .binaryDataAttributeType:
            return SmallPicture(numbers.below(1 << 24), size: 8 + numbers.below(3) * 4, serial: isUnique ? index : nil)
                .png
        case .transformableAttributeType: return Data([UInt8(index % 256), 1, 2])
        case .UUIDAttributeType: return uuid(&numbers)
        case .URIAttributeType:
            return URL(string: "https://example.org/\(numbers.pick(BelievableWords.words))/\(index + 1)")
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return nil
        }
    }

    private func integer(_ index: Int, limit: Double, _ numbers: inout SeededNumbers) -> NSNumber {
        let least = (bounds.minimum ?? -limit).rounded(.up)
        let most = min(limit, (bounds.maximum ?? limit).rounded(.down))
        if isUnique {
            return NSNumber(value: Int64(min(max(least, bounds.minimum == nil ? 1 : least) + Double(index), most)))
        }
        return NSNumber(value: Int64(min(max(real(&numbers).rounded(), least), most)))
    }

    /// A number of a size that the name lets expect, within the bounds.
    private func real(_ numbers: inout SeededNumbers) -> Double {
        let name = attribute.name.lowercased()
        var range = (0.0, 1000.0)
        for (word, expected) in [
            ("quantity", (1.0, 12.0)), ("count", (0, 50)), ("price", (0.5, 100)), ("cost", (0.5, 100)),
            ("year", (1950, 2025)), ("age", (1, 90)), ("rating", (1, 5)), ("percent", (0, 100)),
            ("latitude", (-80, 80)),
            ("longitude", (-180, 180)), ("order", (0, 100)), ("month", (1, 12)), ("day", (1, 28)),
        ] where name.contains(word) {
            range = expected
            break
        }
        let least = bounds.minimum ?? min(range.0, bounds.maximum ?? range.0)
        let most = bounds.maximum ?? max(range.1, least + (range.1 - range.0))
        return least + numbers.fraction() * (most - least)
    }

    private func text(_ index: Int, _ numbers: inout SeededNumbers) -> String {
        var text = BelievableWords.text(named: attribute.name, entity: entity, &numbers)
        if isUnique, let at = text.firstIndex(of: "@") {
            text.insert(contentsOf: "\(index + 1)", at: at)
            return text
        }
        let suffix = isUnique ? " \(index + 1)" : ""
        if let least = bounds.minimumLength {
            while text.utf16.count + suffix.utf16.count < least {
                text += (text.isEmpty ? "" : " ") + numbers.pick(BelievableWords.words)
            }
        }
        if let most = bounds.maximumLength {
            while text.utf16.count + suffix.utf16.count > most, !text.isEmpty { text.removeLast() }
            if isUnique, text.isEmpty { return String(String(index + 1, radix: 36).prefix(max(0, most))) }
        }
        return text + suffix
    }

    /// In the years 2015 to 2024, to the second.
    private func date(_ index: Int, _ numbers: inout SeededNumbers) -> Date {
        let least =
            bounds.earliest?.timeIntervalSinceReferenceDate
            ?? min(441_763_200, bounds.latest.map { $0.timeIntervalSinceReferenceDate - 3e7 } ?? 441_763_200)
        let most = bounds.latest?.timeIntervalSinceReferenceDate ?? max(757_382_400, least + 3e7)
        if isUnique { return Date(timeIntervalSinceReferenceDate: min(least.rounded(.up) + Double(index), most)) }
        return Date(
            timeIntervalSinceReferenceDate: min((least + numbers.fraction() * (most - least)).rounded(.up), most))
    }

    private func uuid(_ numbers: inout SeededNumbers) -> UUID {
        let (a, b) = (numbers.next(), numbers.next())
        func byte(_ word: UInt64, _ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (place * 8)) }
        return UUID(
            uuid: (
                byte(a, 0), byte(a, 1), byte(a, 2), byte(a, 3), byte(a, 4), byte(a, 5), byte(a, 6) & 0x0F | 0x40,
                byte(a, 7), byte(b, 0) & 0x3F | 0x80, byte(b, 1), byte(b, 2), byte(b, 3), byte(b, 4), byte(b, 5),
                byte(b, 6), byte(b, 7)
            ))
    }
}
