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
    private func conflict(
        under policy: Any, _ check: (Book, NSManagedObjectContext, CocoaError?) throws -> Void = { _, _, _ in }
    ) throws -> (error: CocoaError?, title: String?) {
        let stack = try LibraryStack()
        let other = stack.newContext()
        var found: CocoaError?
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
            do { try context.save() } catch { found = error as? CocoaError }
            try check(book, context, found)
        }
        let title = try other.performAndWait {
            other.reset()
            return try other.all(Book.self, "Book").first?.title
        }
        return (found, title)
    }

    @Test("I4: the error policy throws, and nothing is written")
    func error() throws {
        let (error, title) = try conflict(under: NSErrorMergePolicy) { book, context, _ in
            #expect(book.title == "Mine" && context.hasChanges)
        }
        #expect(error?.code == .managedObjectMerge && error?.persistentStoreSaveConflicts?.count == 1)
        #expect(title == "Theirs")
    }

    @Test("I10: so it does over a uniqueness constraint")
    func constraints() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for isFirst in [true, false] {
                let tag = Tag(context: context)
                tag.name = "same"
                if isFirst { try context.save() }
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectConstraintMerge)
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("Tag (name)"), "\(text)")
            let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            #expect(list?.first?.constraint == ["name"])
            #expect(list?.first?.constraintValues["name"] as? String == "same")
            #expect(list?.first?.databaseSnapshot?["name"] as? String == "same")
            #expect(list?.first?.conflictingSnapshots.first?["name"] as? String == "same")
        }
    }

    // MARK: Policies of one's own

    @Test("I13: a subclass that calls super changes objects before and after it")
    func subclasses() throws {
        let asking = ClosurePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType) { list, resolve in
            let conflict = try #require(list.first as? NSMergeConflict)
            #expect(list.count == 1 && conflict.sourceObject.value(forKey: "title") as? String == "Mine")
            conflict.sourceObject.setValue("Before", forKey: "title")
            try resolve()
            conflict.sourceObject.setValue(12, forKey: "pages")
        }
        let (error, title) = try conflict(under: asking) { book, context, _ in
            #expect(book.title == "Before" && book.pages == 12 && !context.hasChanges)
        }
        #expect(error == nil && title == "Before")
    }

    @Test("I13: one that resolves by itself need not call super")
    func withoutSuper() throws {
        let policy = ClosurePolicy(merge: .errorMergePolicyType) { list, _ in
            for case let conflict as NSMergeConflict in list {
                let object = conflict.sourceObject
                object.managedObjectContext?.refresh(object, mergeChanges: true)
                object.setValue("\(conflict.cachedSnapshot?["title"] ?? "") and Mine", forKey: "title")
            }
        }
        let (error, title) = try conflict(under: policy)
        #expect(error == nil && title == "Theirs and Mine")
    }

    @Test("I13: one that resolves nothing is told so")
    func idle() throws {
        let (error, title) = try conflict(under: ClosurePolicy(merge: .errorMergePolicyType) { _, _ in }) {
            book, context, _ in
            #expect(book.title == "Mine" && context.hasChanges)
        }
        #expect(error?.code == .managedObjectMerge && title == "Theirs")
        #expect(error?.localizedDescription.contains("ClosurePolicy") == true)
    }

    @Test("I13: where a subclass throws, everything is as it was, also what it changed before")
    func failingPolicies() throws {
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Author"
            let books = ["a", "b", "c"].map { title in
                let book = Book(context: context)
                book.title = title
                book.author = author
                return book
            }
            let tag = Tag(context: context)
            tag.name = "tag"
            books[0].tags = [tag]
            try context.save()
            try second.story { other in
                for id in books.map(\.objectID) { (other.object(with: id) as? Book)?.pages = 99 }
                try other.save()
            }
            books[0].title = "Mine"
            books[1].author = nil
            context.delete(books[2])
            let new = Book(context: context)
            new.title = "New"
            new.tags = [tag]
            context.processPendingChanges()
            let before = describe(context)
            let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, context)
            context.mergePolicy = ClosurePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType) { list, resolve in
                try resolve()
                for case let conflict as NSMergeConflict in list where !conflict.sourceObject.isDeleted {
                    conflict.sourceObject.setValue("lost", forKey: "title")
                }
                books[0].tags = []
                new.author = author
                context.delete(new)
                context.delete(tag)
                Book(context: context).title = "of the policy"
                context.processPendingChanges()
                _ = try context.all(Book.self, "Book")
                throw CocoaError(.featureUnsupported)
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .featureUnsupported)
            #expect(describe(context) == before)
            #expect(log.userInfos.isEmpty, "nobody was told of what is not")
            #expect(books[2].isDeleted && new.isInserted && new.managedObjectContext === context)
            #expect(try second.context.performAndWaitTitles() == ["a", "b", "c"])
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            try context.save()
            #expect(try stack.newContext().performAndWaitTitles() == ["Mine", "New", "b"])
        }
    }

    /// Everything that a context shows of its objects.
    private func describe(_ context: NSManagedObjectContext) -> [String] {
        let changed = [context.insertedObjects, context.updatedObjects, context.deletedObjects].map {
            $0.map { $0.objectID.uriRepresentation().absoluteString }.sorted()
        }
        return changed.map { "\($0)" }
            + context.registeredObjects.map { object in
                let name = object.objectID.uriRepresentation().absoluteString
                guard !object.isDeleted else { return name }
                let values = object.changedValues().map { key, value in
                    let members = (value as? NSSet)?.allObjects.compactMap { ($0 as? NSManagedObject)?.objectID }
                    let ids = members?.map { $0.uriRepresentation().absoluteString }.sorted()
                    return "\(key): \(ids.map { $0 as Any } ?? (value as? NSManagedObject)?.objectID ?? value)"
                }.sorted()
                return "\(name) \(object.hasChanges) \(values)"
            }.sorted()
    }

    @Test("I10, I13: a subclass decides over unique values")
    func constraintPolicies() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for name in ["a", "b"] { Tag(context: context).name = name }
            try context.save()
            var asked: [[String: Any]] = []
            context.mergePolicy = ClosurePolicy(merge: .errorMergePolicyType) { list, _ in
                for case let conflict as NSConstraintConflict in list {
                    asked.append(conflict.constraintValues)
                    #expect(conflict.databaseObject != nil && conflict.conflictingObjects.count == 1)
                    conflict.conflictingObjects.first?.setValue("c", forKey: "name")
                }
            }
            Tag(context: context).name = "b"
            try context.save()
            #expect(asked.map { $0["name"] as? String } == ["b"])
            #expect(try context.all(Tag.self, "Tag").compactMap(\.name).sorted() == ["a", "b", "c"])
        }
    }

    @Test("D8: what a policy refreshed, changed and dropped is told in one notification, once it is written")
    func notifications() throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Book"
            Tag(context: context).name = "tag"
            try context.save()
            try other.performAndWait {
                (other.object(with: book.objectID) as? Book)?.pages = 12
                try other.save()
            }
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            book.title = "Mine"
            let new = Tag(context: context)
            new.name = "tag"
            context.processPendingChanges()
            let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, context)
            let saves = NotificationSaves(context)
            try context.save()
            #expect(log.userInfos.count == 1)
            #expect(log.userInfos.first?[NSRefreshedObjectsKey] as? Set<NSManagedObject> == [book])
            #expect(log.userInfos.first?[NSDeletedObjectsKey] as? Set<NSManagedObject> == [new])
            #expect(saves.last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [book])
            #expect((saves.last?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.isEmpty == true)
        }
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

/// What a test does in place of a policy; it may call what the policy does.
final class ClosurePolicy: NSMergePolicy, @unchecked Sendable {
    // Safe because one test uses it.
    private let body: ([Any], () throws -> Void) throws -> Void

    init(merge type: NSMergePolicyType, _ body: @escaping ([Any], () throws -> Void) throws -> Void) {
        self.body = body
        super.init(merge: type)
    }

    override func resolve(mergeConflicts list: [Any]) throws {
        try body(list) { try super.resolve(mergeConflicts: list) }
    }
}
