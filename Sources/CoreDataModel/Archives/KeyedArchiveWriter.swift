import Foundation

/// Builds an archive as `NSKeyedArchiver` writes it, object by object.
///
/// The values of an object are primitives, or references made by one of these functions.
///
///     var writer = KeyedArchiveWriter()
///     let book = writer.reserve()                       // other objects can now refer to it
///     writer.define(book, ["NSEntityDescription"], ["NSEntityName": writer.text("Book")])
///     let data = writer.data(root: book)
struct KeyedArchiveWriter {
    /// The reference to `nil` in an archive.
    static let null = PropertyListValue.uid(0)

    private var objects: [PropertyListValue] = [.string("$null")]
    private var classes: [[String]: PropertyListValue] = [:]
    /// The references to strings and numbers, which are shared.
    private var scalars: [PropertyListValue: PropertyListValue] = [:]

    /// Reserves a reference to an object that will be defined later.
    mutating func reserve() -> PropertyListValue {
        objects.append(.string("$null"))
        return .uid(objects.count - 1)
    }

    mutating func define(_ reference: PropertyListValue, _ classes: [String], _ values: [String: PropertyListValue]) {
        guard case .uid(let index) = reference else { return }
        var values = values
        values["$class"] = classReference(classes + ["NSObject"])
        objects[index] = .dictionary(values)
    }

    mutating func object(_ classes: [String], _ values: [String: PropertyListValue]) -> PropertyListValue {
        let reference = reserve()
        define(reference, classes, values)
        return reference
    }

    /// Adds a string, number or data as an object, and returns the reference.
    mutating func scalar(_ value: PropertyListValue) -> PropertyListValue {
        if let known = scalars[value] { return known }
        objects.append(value)
        let reference = PropertyListValue.uid(objects.count - 1)
        scalars[value] = reference
        return reference
    }

    mutating func text(_ text: String?) -> PropertyListValue { text.map { scalar(.string($0)) } ?? Self.null }

    mutating func array(_ elements: [PropertyListValue], isMutable: Bool = false) -> PropertyListValue {
        object((isMutable ? ["NSMutableArray"] : []) + ["NSArray"], ["NS.objects": .array(elements)])
    }

    mutating func set(_ elements: [PropertyListValue]) -> PropertyListValue {
        object(["NSSet"], ["NS.objects": .array(elements)])
    }

    mutating func dictionary(
        _ entries: [(key: String, value: PropertyListValue)], isMutable: Bool = false
    ) -> PropertyListValue {
        let keys = entries.map { text($0.key) }
        return object(
            (isMutable ? ["NSMutableDictionary"] : []) + ["NSDictionary"],
            ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.value))])
    }

    /// Adds a dictionary of fixed keys, which Core Data archives in stores; the keys must be sorted.
    mutating func knownKeysDictionary(_ entries: [(key: String, value: PropertyListValue)]) -> PropertyListValue {
        let keys = array(entries.map { text($0.key) })
        let mapping = object(
            ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy"],
            ["keys": keys, "length": .integer(Int64(entries.count)), "version": .integer(1)])
        return object(
            ["NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"],
            [
                "values": array(entries.map(\.value)), "searchMapping": mapping, "version": .integer(1),
                "emptyToken": text("__empty_slot_token_4c24_98dc_ac1e_b773__"),
            ])
    }

    func data(root: PropertyListValue) -> Data {
        BinaryPropertyListWriter.data(
            .dictionary([
                "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
                "$top": .dictionary(["root": root]), "$objects": .array(objects),
            ]))
    }

    private mutating func classReference(_ names: [String]) -> PropertyListValue {
        if let known = classes[names] { return known }
        objects.append(
            .dictionary(["$classname": .string(names[0]), "$classes": .array(names.map { .string($0) })]))
        let reference = PropertyListValue.uid(objects.count - 1)
        classes[names] = reference
        return reference
    }
}
