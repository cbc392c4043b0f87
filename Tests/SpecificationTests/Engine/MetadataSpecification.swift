import CoreDataPrimitives
import CoreDataStore
import Foundation
import Testing

/// What a store knows of itself.
@Suite struct MetadataSpecification {
    @Test(arguments: SpecifiedStore.having(.rows))
    func everyStoreHasAnIdentifierOfItsOwn(_ store: SpecifiedStore) throws {
        try store.check { first throws in
            try store.check { second throws in
                #expect(UUID(uuidString: first.source.identifier) != nil)
                #expect(first.source.identifier != second.source.identifier)
                #expect(try first.source.metadata().identifier == first.source.identifier)
                #expect(
                    try first.source.metadata().dictionary[StoreMetadata.Key.identifier] as? String
                        == first.source.identifier)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func metadataAreWrittenWithTheRows(_ store: SpecifiedStore) throws {  // H10
        try store.check { library in
            let values: [String: Any] = [
                "text": "é\u{1F600}", "number": 7, "real": 0.5, "yes": true, "bytes": Data([0, 255]),
                "date": Date(timeIntervalSinceReferenceDate: 0), "list": ["a", ["b": 1]],
            ]
            try library.save { changes in
                changes.metadata = try StoreMetadata(dictionary: values)
                changes.insertions = [library.insertion("Tag", 1)]
            }
            var found = try library.source.metadata().dictionary
            #expect(found.removeValue(forKey: StoreMetadata.Key.identifier) as? String == library.source.identifier)
            #expect(NSDictionary(dictionary: found) == NSDictionary(dictionary: values))
            #expect(try library.keys("Tag") == [1])
            try library.save { $0.metadata = try StoreMetadata(dictionary: ["other": 1]) }
            #expect(try library.source.metadata().dictionary["text"] == nil)
            #expect(try library.source.metadata().dictionary["other"] as? Int == 1)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aSaveWithoutMetadataLeavesThem(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { $0.metadata = try StoreMetadata(dictionary: ["key": "value"]) }
            try library.insert(library.insertion("Tag", 1))
            #expect(try library.source.metadata().dictionary["key"] as? String == "value")
        }
    }
}
