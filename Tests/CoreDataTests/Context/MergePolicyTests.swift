import CoreData
import Foundation
import TestSupport
import Testing

// semantics I: merge policies
@Suite struct MergePolicyTests {
    private static var policies: [(AnyObject, NSMergePolicy, NSMergePolicyType, String)] {
        [
            (NSErrorMergePolicy, .error, .errorMergePolicyType, "NSErrorMergePolicy"),
            (
                NSMergeByPropertyStoreTrumpMergePolicy, .mergeByPropertyStoreTrump,
                .mergeByPropertyStoreTrumpMergePolicyType, "NSMergeByPropertyStoreTrumpMergePolicy"
            ),
            (
                NSMergeByPropertyObjectTrumpMergePolicy, .mergeByPropertyObjectTrump,
                .mergeByPropertyObjectTrumpMergePolicyType, "NSMergeByPropertyObjectTrumpMergePolicy"
            ),
            (NSOverwriteMergePolicy, .overwrite, .overwriteMergePolicyType, "NSOverwriteMergePolicy"),
            (NSRollbackMergePolicy, .rollback, .rollbackMergePolicyType, "NSRollbackMergePolicy"),
        ]
    }

    @Test func everyPolicyIsThere() {
        for (index, (global, policy, type, name)) in Self.policies.enumerated() {
            let isSame = global === policy
            #expect(isSame)
            #expect(policy.mergeType == type && Int(type.rawValue) == index)
            #expect(policy.description == name)
            #expect(NSMergePolicy(merge: type).mergeType == type)
        }
    }

    /// Two contexts change one book; the second, under the policy, saves.
    private func conflict(under policy: Any) throws -> (error: CocoaError?, title: String?) {
        let stack = try LibraryStack()
        let other = stack.newContext()
        var error: CocoaError?
        try stack.story { context in
            context.mergePolicy = policy
            let book = Book(context: context)
            book.title = "Book"
            // Nothing is in the way.
            try context.save()
            try other.performAndWait {
                try #require(try other.existingObject(with: book.objectID) as? Book).title = "Theirs"
                try other.save()
            }
            book.title = "Mine"
            error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(book.title == "Mine" && context.hasChanges)
        }
        let title = try other.performAndWait {
            other.reset()
            return try other.all(Book.self, "Book").first?.title
        }
        return (error, title)
    }

    @Test("I4: a conflict under a policy that cannot resolve it yet is an error that names the policy")
    func rows() throws {
        for (policy, _, type, name) in Self.policies {
            let (error, title) = try conflict(under: policy)
            #expect(error?.code == .managedObjectMerge)
            #expect(error?.persistentStoreSaveConflicts?.count == 1)
            #expect(error?.localizedDescription.contains(name) == (type != .errorMergePolicyType))
            #expect(title == "Theirs")
        }
    }

    @Test("I10: so is one over a uniqueness constraint")
    func constraints() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            for isFirst in [true, false] {
                let tag = Tag(context: context)
                tag.name = "same"
                if isFirst { try context.save() }
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectConstraintMerge)
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("NSMergeByPropertyObjectTrumpMergePolicy") && text.contains("Tag (name)"), "\(text)")
            let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            #expect(list?.first?.constraint == ["name"])
        }
    }

    @Test("I13: a subclass is asked, and what it throws is thrown")
    func subclasses() throws {
        let asking = AskedPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        let (error, _) = try conflict(under: asking)
        #expect(asking.conflicts == 1)
        #expect(error?.code == .managedObjectMerge && error?.localizedDescription.contains("AskedPolicy") == true)
        let (unsupported, title) = try conflict(under: SilentPolicy(merge: .errorMergePolicyType))
        #expect(unsupported?.localizedDescription.contains("SilentPolicy") == true && title == "Theirs")
    }

    @Test(.enabled(if: TypeChecker.isAvailable, Comment(rawValue: TypeChecker.missing)))
    func compilersMessagesOfWrongCallsNameThisInitialiser() throws {
        let source = """
            import CoreData
            let policy = NSMergePolicy(merge: "all")
            let number = NSMergePolicy(merge: 3)
            let other = NSMergePolicy(with: .errorMergePolicyType)
            let none = NSMergePolicy()
            let store = NSPersistentStoreDescription(forKeyPath: "a")
            let managed = NSManagedObjectContext(format: "a")
            """
        let problems = try TypeChecker.problems(in: [("main.swift", source)])
        #expect(problems.contains("NSMergePolicyType") && problems.contains("expected 'merge:'"), "\(problems)")
        for name in ["forConstantValue", "forVariable", "PredicateMaking", "expressionPayload", "predicateNode"] {
            #expect(!problems.contains(name), "\(problems)")
        }
    }
}

private final class AskedPolicy: NSMergePolicy, @unchecked Sendable {
    // Safe because one test uses it.
    private(set) var conflicts = 0

    override func resolve(mergeConflicts list: [Any]) throws {
        conflicts += list.count
        try super.resolve(mergeConflicts: list)
    }
}

private final class SilentPolicy: NSMergePolicy, @unchecked Sendable {
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {}
}
