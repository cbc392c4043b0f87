import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation
import Testing

@testable import CoreDataCLI

@Suite struct PlainArchiveTests {
    private static func archive(_ value: Any) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }

    /// The order of a dictionary's entries in its archive depends on the process and on how the dictionary grew.
    @Test func theOrderOfEntriesDoesNotCount() throws {
        let names = (0..<12).map { "name \($0)" }
        var archives: Set<Data> = []
        for capacity in [0, 100, 1_000, 10_000] {
            var entries = [String: Any](minimumCapacity: capacity)
            for (index, name) in names.enumerated() {
                entries[name] = ["n": index, "list": [index, 1.5]] as [String: Any]
            }
            archives.insert(try Self.archive(entries))
        }
        #expect(archives.count > 1, "Every archive has the same order, so this test compares nothing.")
        let first = try #require(archives.first)
        for other in archives { #expect(PlainArchive.areEqual(first, other)) }
    }

    @Test func everyValueAndClassCounts() throws {
        let values: [Any] = [
            ["a": 1], ["a": 2], ["a": 1.5], ["b": 1], ["a": true], ["a": "1"], ["a": Data([1])], ["a": Data([2])],
            ["a": [1, 2]],
            ["a": [2, 1]], ["a": 1, "b": 1], ["a"], NSOrderedSet(array: ["a"]), NSNull(), "a",
        ]
        let archives = try values.map(Self.archive)
        for (row, first) in archives.enumerated() {
            for (column, second) in archives.enumerated() {
                #expect(PlainArchive.areEqual(first, second) == (row == column), "\(values[row]), \(values[column])")
            }
        }
        #expect(PlainArchive.areEqual(Data([1]), Data([2])) == false)
    }

    /// An exact cell is JSON if an import makes an equal archive, whatever the order of its entries.
    @Test func exactCellsOfDictionariesAreJSON() throws {
        let attribute = NSAttributeDescription()
        attribute.attributeType = .transformableAttributeType
        attribute.valueTransformerName = "NSSecureUnarchiveFromData"
        let text = AttributeText(attribute: attribute, isExact: true)
        var entries = [String: Int](minimumCapacity: 1_000)
        for index in 0..<12 { entries["name \(index)"] = index }
        let json =
            "{" + entries.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        #expect(text.cell(try Self.archive(entries)) == .json(json))
        let dates = try Self.archive(["a": Date(timeIntervalSinceReferenceDate: 0)])
        #expect(text.cell(dates) == .data(dates))
    }
}
