import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// Composite attributes in compiled models and the copies of models that stores keep (store-format §12.2).
@Suite struct CompositeArchiveTests {
    private static let people = model(
        entity(
            "Person",
            composite(
                "address", attribute("number", .integer16), composite("geo", attribute("y", .double)), attribute("city")
            )))

    private func objects(_ archive: Data) throws -> [[String: PropertyListValue]] {
        try #require(try PropertyListValue(propertyList: archive)["$objects"]?.array).compactMap {
            if case .dictionary(let object) = $0 { return object }
            return nil
        }
    }

    /// The archive with another key in all its objects, or another value under it.
    private func changed(
        _ archive: Data, _ change: (inout [String: PropertyListValue]) -> Void
    ) throws -> Data {
        guard case .dictionary(var root) = try PropertyListValue(propertyList: archive) else { return archive }
        root["$objects"] = .array(
            try #require(root["$objects"]?.array).map { object in
                guard case .dictionary(var values) = object else { return object }
                change(&values)
                return .dictionary(values)
            })
        return BinaryPropertyListWriter.data(.dictionary(root))
    }

    private func elements(_ archive: Data) throws -> [PropertyElement] {
        let document = try ModelArchive.document(fromArchive: archive)
        #expect(document.diagnostics.isEmpty, "\(document.diagnostics.rendered)")
        guard case .attribute(let address)? = document.entities.first?.properties.first?.kind else { return [] }
        return address.elements
    }

    @Test func elementsAreUnderApplesKeyInTheirOrder() throws {
        let archive = try ModelArchive.archive(Self.people)
        let composites = try objects(archive).filter { $0["NSCompositeElements"] != nil }
        #expect(composites.count == 2)
        #expect(composites.allSatisfy { $0["NSElements"] == nil && $0["NSAttributeType"] == .integer(2100) })
        #expect(try objects(archive).contains { $0["$classname"] == .string("NSCompositeAttributeDescription") })
        #expect(try elements(archive).map(\.name) == ["number", "geo", "city"])
    }

    /// Stores and compiled models of earlier versions of this framework have another key.
    @Test func theFormerKeyIsRead() throws {
        let archive = try changed(try ModelArchive.archive(Self.people)) { values in
            values["NSElements"] = values.removeValue(forKey: "NSCompositeElements")
        }
        #expect(try objects(archive).count { $0["NSElements"] != nil } == 2)
        #expect(try elements(archive) == elements(try ModelArchive.archive(Self.people)))
    }

    /// SwiftData leaves the dictionary empty; what one has are the defaults of elements without one.
    @Test func aDefaultOfACompositeIsThatOfItsElements() throws {
        func archive(_ keys: [String], _ values: [PropertyListValue]) throws -> Data {
            let archive = try ModelArchive.archive(Self.people)
            guard case .dictionary(let known) = try PropertyListValue(propertyList: archive) else { return archive }
            var objects = try #require(known["$objects"]?.array)
            let first = objects.count
            objects.append(
                .dictionary(["$classname": .string("NSDictionary"), "$classes": .array([.string("NSDictionary")])]))
            objects += keys.map { .string($0) } + values
            let keyList = keys.indices.map { PropertyListValue.uid(first + 1 + $0) }
            let valueList = keys.indices.map { PropertyListValue.uid(first + 1 + keys.count + $0) }
            objects.append(
                .dictionary([
                    "$class": .uid(first), "NS.keys": .array(keyList), "NS.objects": .array(valueList),
                ]))
            let root = PropertyListValue.dictionary(known.merging(["$objects": .array(objects)]) { $1 })
            let place = PropertyListValue.uid(objects.count - 1)
            return try changed(BinaryPropertyListWriter.data(root)) { values in
                let isAddress = values["NSAttributeType"] == .integer(2100) && values["NSIsOptional"] == .bool(true)
                if isAddress { values["NSDefaultValue"] = place }
            }
        }
        func defaults(_ archive: Data) throws -> [Value] {
            try elements(archive).map { element in
                if case .attribute(let attribute) = element.kind { return attribute.defaultValue }
                return .null
            }
        }
        #expect(try defaults(archive([], [])) == [.null, .null, .null])
        #expect(
            try defaults(archive(["city", "number", "other"], [.string("Oslo"), .integer(7), .integer(1)])) == [
                .integer(7), .null, .string("Oslo"),
            ])
    }
}
