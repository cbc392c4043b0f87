import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

@testable import CoreData

/// A store lacks the capabilities that it lists, and no other.
@Suite struct CapabilityTests {
    /// Whether both sides of a many-to-many agree after a conflict shows in few of many random stories: nothing small tells it.
    private static let shown = Capability.allCases.filter { $0 != .agreeingSides }

    @Test(arguments: SpecifiedStore.all, shown)
    func aStoreLacksWhatItListsAndNothingElse(_ store: SpecifiedStore, _ capability: Capability) throws {
        try store.requireInstalled()
        let isFound = try Self.isFound(capability, in: store)
        if let reason = store.lacks[capability] {
            #expect(!isFound, "\(store.name) is listed to lack \(capability), and has it: \(reason)")
        } else {
            #expect(isFound, "\(store.name) lacks \(capability), which it does not list")
        }
    }

    /// Whether an empty store shows the capability.
    private static func isFound(_ capability: Capability, in store: SpecifiedStore) throws -> Bool {
        // Of a store that takes objects only, there is nothing to see below contexts.
        let takesRows = store.attach == nil
        switch capability {
        case .rows: return try savesRows(store)
        case .reopening:
            return try !takesRows || found(store) { (library: SpecifiedSource) in library.opened.reopen != nil }
        case .formerStates: return try found(store, keepsFormerState)
        case .uniqueValues: return try found(store, refusesTakenValue)
        case .derivedAttributes: return try found(store, on: derived, computesValue)
        case .groupsAndExpressions: return try found(store, groups)
        case .exactDecimals:
            return try !takesRows || keeps("price", .decimal(exactDecimal), store)
        case .notANumber: return try !takesRows || keeps("rating", .double(.nan), store)
        case .rangesOfKeys: return try !takesRows || found(store, hasRanges)
        case .keysOfFailedSaves: return try !takesRows || found(store, givesKeysAgain)
        case .agreeingSides: return store.has(capability)
        }
    }
}

extension CapabilityTests {
    private static let exactDecimal = Decimal(sign: .plus, exponent: -20, significand: Decimal(UInt64.max))

    private static let derived = document([
        Entity("Item").string("name").attribute("plain", .string, derived: "canonical:(name)")
    ])

    // MARK: Through contexts

    private static func found(
        _ store: SpecifiedStore, on document: ModelDocument? = nil, _ body: (SpecifiedStack) throws -> Bool
    ) throws -> Bool {
        var isFound = false
        try store.checkContexts(document) { isFound = try body($0) }
        return isFound
    }

    private static func keepsFormerState(_ stack: SpecifiedStack) throws -> Bool {
        try stack.story { context throws in
            _ = context.insert("Author", ["name": "Ann"])
            try context.save()
            try context.setQueryGenerationFrom(.current)
            #expect(try context.names("Author") == ["Ann"])
            try stack.story { other throws in
                _ = other.insert("Author", ["name": "Bob"])
                try other.save()
            }
            let names = try context.names("Author")
            #expect([["Ann"], ["Ann", "Bob"]].contains(names))
            return names == ["Ann"]
        }
    }

    private static func refusesTakenValue(_ stack: SpecifiedStack) throws -> Bool {
        try stack.story { context throws in
            for name in ["Ann", "Bob"] { _ = context.insert("Author", ["name": name, "email": "a@x"]) }
            do {
                try context.save()
                #expect(try context.names("Author") == ["Ann", "Bob"])
                return false
            } catch let error as CocoaError {
                #expect(error.code == .managedObjectConstraintMerge)
                return true
            }
        }
    }

    private static func computesValue(_ stack: SpecifiedStack) throws -> Bool {
        try stack.story { context throws in
            let item = context.insert("Item", ["name": "Crème"])
            try context.save()
            let plain = item.value(forKey: "plain") as? String
            #expect([nil, "creme"].contains(plain))
            return plain != nil
        }
    }

    private static func groups(_ stack: SpecifiedStack) throws -> Bool {
        try stack.story { context throws in
            for title in ["a", "b", "a"] { _ = context.insert("Book", ["title": title]) }
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title"]
            request.propertiesToGroupBy = ["title"]
            do {
                #expect(try context.fetch(request).count == 2)
                return true
            } catch let error as CocoaError {
                #expect(error.code == .featureUnsupported)
                return false
            }
        }
    }

    /// A book is given a tag that another context has changed, and the policy keeps the tag as that one left it.
    // MARK: Through rows

    private static func found(_ store: SpecifiedStore, _ body: (SpecifiedSource) throws -> Bool) throws -> Bool {
        var isFound = false
        try store.check { isFound = try body($0) }
        return isFound
    }

    private static func savesRows(_ store: SpecifiedStore) throws -> Bool {
        try found(store) { (stack: SpecifiedStack) throws in
            do {
                try stack.rows.insert(stack.rows.insertion("Tag", store.firstKey))
                #expect(try stack.story { try $0.all("Tag").count } == 1)
                return true
            } catch let error as CocoaError {
                // It has no keys without objects either.
                #expect(error.code.rawValue == NSPersistentStoreOperationError)
                let keys = #expect(throws: CocoaError.self) {
                    try stack.rows.source.allocateKeys(root: stack.rows.root("Tag"), count: 1)
                }
                #expect(keys?.code.rawValue == NSPersistentStoreOperationError)
                return false
            }
        }
    }

    private static func keeps(_ property: String, _ value: Value, _ store: SpecifiedStore) throws -> Bool {
        try found(store) { (library: SpecifiedSource) throws in
            let entity = property == "price" ? "Book" : "Author"
            try library.insert(library.insertion(entity, 1, [property: value]))
            library.source.rowCache.removeAll()
            let kept = try library.value(property, of: entity, 1)
            if case .double(let number) = kept { return number.isNaN }
            return kept == value
        }
    }

    private static func hasRanges(_ library: SpecifiedSource) throws -> Bool {
        let books = try library.source.allocateKeys(root: library.root("Book"), count: 1)
        return try library.source.allocateKeys(root: library.root("Tag"), count: 1) == books
    }

    private static func givesKeysAgain(_ library: SpecifiedSource) throws -> Bool {
        let tag = library.root("Tag")
        let first = try library.source.allocateKeys(root: tag, count: 1).upperBound
        #expect(throws: SaveFailure.self) {
            try library.save(keys: [tag: 5]) { $0.updates = [library.update("Tag", 1_000, [:], [:])] }
        }
        return try library.source.allocateKeys(root: tag, count: 1).lowerBound == first + 1
    }
}
