import CoreData
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// What each merge policy makes of rows that two contexts changed.
@Suite struct MergePolicySpecification {
    static let policies: [NSMergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    enum Changed: CaseIterable { case mine, theirs, both }

    /// Who changes what of the book "One" by "base", with tags a, b, c and chapters 1, 2, 3.
    struct Kind: Sendable {
        let name: String
        let mine: @Sendable (NSManagedObject, NSManagedObjectContext) throws -> Void
        let theirs: @Sendable (NSManagedObject, NSManagedObjectContext) throws -> Void
        let value: @Sendable (NSManagedObject) -> [String]
        /// What there is after my change, after theirs, and what each policy makes of both.
        let base: [String]
        let onlyMine: [String]
        let onlyTheirs: [String]
        let both: @Sendable (NSMergePolicyType) -> [String]
        /// What rollback leaves of my change, which may be another row's.
        var rolledBack: [String]?
        /// Whether the object as a whole wins under overwrite.
        var isOverwritten = false
    }

    static func winner(_ type: NSMergePolicyType, _ mine: [String], _ theirs: [String]) -> [String] {
        type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType ? mine : theirs
    }

    /// I5, I6
    static let attribute = Kind(
        name: "attribute", mine: { book, _ in book.setValue("mine", forKey: "title") },
        theirs: { book, _ in book.setValue("theirs", forKey: "title") }, value: { [$0.text("title")] },
        base: ["One"], onlyMine: ["mine"], onlyTheirs: ["theirs"], both: { winner($0, ["mine"], ["theirs"]) },
        isOverwritten: true)

    /// I5, I6
    static let cleared = Kind(
        name: "attribute that is set to nil", mine: { book, _ in book.setValue(nil, forKey: "title") },
        theirs: { book, _ in book.setValue("theirs", forKey: "title") }, value: { [$0.text("title")] },
        base: ["One"], onlyMine: ["nil"], onlyTheirs: ["theirs"], both: { winner($0, ["nil"], ["theirs"]) },
        isOverwritten: true)

    /// I5, I6
    static let toOne = Kind(
        name: "to-one",
        mine: { try $0.setValue($1.one("Author", "name == 'mine'"), forKey: "author") },
        theirs: { try $0.setValue($1.one("Author", "name == 'theirs'"), forKey: "author") },
        value: { [$0.object("author")?.text("name") ?? "nil"] },
        base: ["base"], onlyMine: ["mine"], onlyTheirs: ["theirs"], both: { winner($0, ["mine"], ["theirs"]) },
        isOverwritten: true)

    /// I5, I6
    static let toOneCleared = Kind(
        name: "to-one that is set to nil", mine: { book, _ in book.setValue(nil, forKey: "author") },
        theirs: { try $0.setValue($1.one("Author", "name == 'theirs'"), forKey: "author") },
        value: { [$0.object("author")?.text("name") ?? "nil"] },
        base: ["base"], onlyMine: ["nil"], onlyTheirs: ["theirs"], both: { winner($0, ["nil"], ["theirs"]) },
        isOverwritten: true)

    static func setMembers(
        _ key: String, _ name: String, _ names: [String], _ entity: String
    ) -> @Sendable (NSManagedObject, NSManagedObjectContext) throws -> Void {
        { object, context in
            let present =
                (object.value(forKey: key) as? NSOrderedSet)?.array
                ?? Array(
                    object.value(forKey: key) as? Set<NSManagedObject> ?? [])
            let known = present.compactMap { $0 as? NSManagedObject }
            let members = names.map { wanted in
                known.first { $0.text(name) == wanted } ?? context.insert(entity, [name: wanted])
            }
            let isOrdered = object.value(forKey: key) is NSOrderedSet
            object.setValue(isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: key)
        }
    }

    static func members(
        _ name: String, _ key: String, by text: String = "name", _ entity: String, mine: [String], theirs: [String],
        both: [String], rolledBack: [String]
    ) -> Kind {
        Kind(
            name: name, mine: setMembers(key, text, mine, entity), theirs: setMembers(key, text, theirs, entity),
            value: { $0.names(of: key, by: text) }, base: ["a", "b", "c"], onlyMine: mine, onlyTheirs: theirs,
            both: { $0 == .rollbackMergePolicyType ? rolledBack : both },
            rolledBack: rolledBack == theirs ? ["a", "b", "c"] : mine)
    }

    /// I7; the members' own changes stay under rollback where their rows have the relationship.
    static let oneToMany = members(
        "ordered one-to-many", "chapters", by: "title", "Chapter", mine: ["a", "c", "m"], theirs: ["b", "c", "t"],
        both: ["c", "m", "t"], rolledBack: ["c", "m", "t"])

    /// I7
    static let manyToMany = members(
        "ordered many-to-many", "tags", "Tag", mine: ["a", "c", "m"], theirs: ["b", "c", "t"],
        both: ["c", "m", "t"], rolledBack: ["b", "c", "t"])

    static let kinds = [attribute, cleared, toOne, toOneCleared, oneToMany, manyToMany]

    private func makeBook(_ context: NSManagedObjectContext) throws -> NSManagedObjectID {
        for name in ["base", "mine", "theirs"] { _ = context.insert("Author", ["name": name]) }
        let book = context.insert("Book", ["title": "One", "pages": 1])
        for title in ["a", "b", "c"] { _ = context.insert("Chapter", ["title": title, "book": book]) }
        book.setValue(NSOrderedSet(array: ["a", "b", "c"].map { context.insert("Tag", ["name": $0]) }), forKey: "tags")
        book.setValue(try context.one("Author", "name == 'base'"), forKey: "author")
        try context.save()
        return book.objectID
    }

    private func expected(_ kind: Kind, _ changed: Changed, _ type: NSMergePolicyType) -> [String] {
        switch changed {
        case .mine: type == .rollbackMergePolicyType ? kind.rolledBack ?? kind.base : kind.onlyMine
        case .theirs: type == .overwriteMergePolicyType && kind.isOverwritten ? kind.base : kind.onlyTheirs
        case .both: kind.both(type)
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whoChangedWhatDecidesPropertyByProperty(_ store: SpecifiedStore) throws {  // I1, I5, I6, I7
        let stories = Self.policies.flatMap { policy in
            Self.kinds.flatMap { kind in Changed.allCases.map { (policy, kind, $0) } }
        }
        for (policy, kind, changed) in Trials.some(of: Trials.some(of: stories), atLeast: 8) {
            try store.checkContexts { try check(kind, changed, policy, $0) }
        }
    }

    private func check(
        _ kind: Kind, _ changed: Changed, _ policy: NSMergePolicy, _ stack: SpecifiedStack
    ) throws {
        let what = Comment(rawValue: "\(kind.name), \(changed), \(policy)")
        try stack.story { context throws in
            context.mergePolicy = policy
            let id = try makeBook(context)
            let book = try context.existingObject(with: id)
            #expect(kind.value(book) == kind.base, what)
            try stack.story { other throws in
                let same = try other.existingObject(with: id)
                if changed != .mine { try kind.theirs(same, other) }
                same.setValue(7, forKey: "pages")
                try other.save()
            }
            if changed != .theirs { try kind.mine(book, context) }
            book.setValue(5, forKey: "price")
            _ = context.insert("Person", ["name": "beside"])
            do { try context.save() } catch { Issue.record("\(what): \(error)") }
            let result = expected(kind, changed, policy.mergeType)
            #expect(kind.value(book) == result, what)
            #expect(
                book.value(forKey: "pages") as? Int == (policy.mergeType == .overwriteMergePolicyType ? 1 : 7), what)
            let price = policy.mergeType == .rollbackMergePolicyType ? nil : 5
            #expect(book.value(forKey: "price") as? Int == price, what)
            #expect(!context.hasChanges && !book.hasChanges, what)
            checkInverses(context, what)
            try stack.story { fresh throws in
                #expect(try kind.value(fresh.existingObject(with: id)) == result, what)
                #expect(try fresh.all("Person").count == 1, "I6: what has no conflict is saved, \(what)")
                checkInverses(fresh, what)
            }
            // Nothing is left in the way.
            book.setValue("again", forKey: "title")
            context.mergePolicy = NSErrorMergePolicy
            try context.save()
        }
    }

    /// Both sides of every relationship that was looked at agree.
    func checkInverses(_ context: NSManagedObjectContext, _ what: Comment) {
        for object in context.registeredObjects where !object.isFault && !object.isDeleted {
            for (name, relationship) in object.entity.relationshipsByName
            where !object.hasFault(forRelationshipNamed: name) {
                guard let inverse = relationship.inverseRelationship?.name else { continue }
                for other in Self.targets(object, name) where !other.hasFault(forRelationshipNamed: inverse) {
                    #expect(
                        Self.targets(other, inverse).contains { $0 === object },
                        "\(object.entity.name ?? "").\(name) and its inverse: \(what)")
                }
            }
        }
    }

    static func targets(_ object: NSManagedObject, _ name: String) -> [NSManagedObject] {
        switch object.value(forKey: name) {
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        case let members as Set<NSManagedObject>: Array(members)
        case let one as NSManagedObject: [one]
        default: []
        }
    }

    // MARK: Order

    @Test(arguments: SpecifiedStore.all)
    func whoMovedMembersKeepsHisOrder(_ store: SpecifiedStore) throws {  // I7
        for policy in Self.policies {
            for kind in ["tags", "chapters"] {
                for isMovedThere in [false, true] {
                    try store.checkContexts { stack in
                        try checkOrder(kind, isMovedThere, policy, stack)
                    }
                }
            }
        }
    }

    private func checkOrder(
        _ key: String, _ isMovedThere: Bool, _ policy: NSMergePolicy, _ stack: SpecifiedStack
    ) throws {
        let (text, entity) = key == "tags" ? ("name", "Tag") : ("title", "Chapter")
        let what = Comment(rawValue: "\(key), \(isMovedThere), \(policy)")
        try stack.story { context throws in
            context.mergePolicy = policy
            let id = try makeBook(context)
            let book = try context.existingObject(with: id)
            try stack.story { other throws in
                let same = try other.existingObject(with: id)
                same.setValue("theirs", forKey: "title")
                if isMovedThere { try Self.setMembers(key, text, ["b", "a", "c"], entity)(same, other) }
                try other.save()
            }
            try Self.setMembers(key, text, ["c", "a", "b"], entity)(book, context)
            try context.save()
            let mine = ["c", "a", "b"]
            let theirs = isMovedThere ? ["b", "a", "c"] : ["a", "b", "c"]
            let result: [String] =
                switch policy.mergeType {
                case .rollbackMergePolicyType: theirs
                case .mergeByPropertyStoreTrumpMergePolicyType: isMovedThere ? theirs : mine
                default: mine
                }
            #expect(book.names(of: key, by: text) == result, what)
            try stack.story { fresh throws in
                #expect(try fresh.existingObject(with: id).names(of: key, by: text) == result, what)
            }
        }
    }

    // MARK: Deletions

    @Test(arguments: SpecifiedStore.all)
    func aRowThatWasDeletedThereIsDeletedOrInsertedAgain(_ store: SpecifiedStore) throws {  // I2, I8
        for policy in Self.policies {
            try store.checkContexts { stack in
                let what = Comment(rawValue: "\(policy)")
                try stack.story { context throws in
                    context.mergePolicy = policy
                    let id = try makeBook(context)
                    let book = try context.existingObject(with: id)
                    let tags = book.names(of: "tags")
                    try stack.story { other throws in
                        other.delete(try other.existingObject(with: id))
                        try other.save()
                    }
                    book.setValue("mine", forKey: "title")
                    let added = context.insert("Chapter", ["title": "m", "book": book])
                    try context.save()
                    #expect(!context.hasChanges, what)
                    let isThere = [.overwrite, .mergeByPropertyObjectTrump].contains(policy)
                    #expect((book.managedObjectContext != nil) == isThere, what)
                    #expect(added.object("book") === (isThere ? book : nil), what)
                    try stack.story { fresh throws in
                        let found = try fresh.all("Book")
                        #expect(found.map(\.objectID) == (isThere ? [id] : []), what)
                        guard let same = found.first else { return }
                        #expect(same.text("title") == "mine" && same.value(forKey: "pages") as? Int == 1, what)
                        #expect(same.object("author")?.text("name") == "base", what)
                        #expect(same.names(of: "tags") == tags, what)
                        #expect(same.names(of: "chapters", by: "title") == ["m"], what)
                        checkInverses(fresh, what)
                    }
                    guard isThere else { return }
                    book.setValue(2, forKey: "pages")
                    try context.save()
                    try stack.story { fresh throws in
                        #expect(try fresh.existingObject(with: id).value(forKey: "pages") as? Int == 2, what)
                    }
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aRowThatTwoInsertAgainHasTheChangesOfBoth(_ store: SpecifiedStore) throws {  // I8
        for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
            try store.checkContexts { stack in
                let contexts = [stack.newContext(), stack.newContext()]
                let id = try contexts[0].performAndWait { try makeBook(contexts[0]) }
                let books = try contexts.map { context in
                    try context.performAndWait { () throws -> NSManagedObject in
                        context.mergePolicy = policy
                        let book = try context.existingObject(with: id)
                        _ = (book.text("title"), book.names(of: "tags"))
                        return book
                    }
                }
                try stack.story { other throws in
                    other.delete(try other.existingObject(with: id))
                    try other.save()
                }
                for (index, context) in contexts.enumerated() {
                    try context.performAndWait {
                        if index == 0 {
                            books[0].setValue("mine", forKey: "title")
                        } else {
                            books[1].setValue(9, forKey: "pages")
                        }
                        try context.save()
                    }
                }
                try stack.story { fresh throws in
                    let book = try fresh.existingObject(with: id)
                    #expect(book.text("title") == (policy == .overwrite ? "One" : "mine"))
                    #expect(book.value(forKey: "pages") as? Int == 9)
                    #expect(try fresh.all("Book").count == 1)
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aRowThatWasDeletedHereIsDeletedOrReturns(_ store: SpecifiedStore) throws {  // I2, I8
        for policy in Self.policies {
            try store.checkContexts(
                rules: [("Book", "chapters", .cascadeDeleteRule)]
            ) { stack in
                let what = Comment(rawValue: "\(policy)")
                try stack.story { context throws in
                    context.mergePolicy = policy
                    let id = try makeBook(context)
                    let book = try context.existingObject(with: id)
                    let author = try #require(book.object("author"))
                    try stack.story { other throws in
                        let same = try other.existingObject(with: id)
                        same.setValue("theirs", forKey: "title")
                        _ = other.insert("Chapter", ["title": "t", "book": same])
                        try other.save()
                    }
                    context.delete(book)
                    try context.save()
                    #expect(!context.hasChanges && !book.isDeleted, what)
                    let isThere = [.rollback, .mergeByPropertyStoreTrump].contains(policy)
                    #expect((book.managedObjectContext != nil) == isThere, what)
                    #expect(author.names(of: "books", by: "title") == (isThere ? ["theirs"] : []), what)
                    if isThere { #expect(book.text("title") == "theirs", what) }
                    checkInverses(context, what)
                    try stack.story { fresh throws in
                        let found = try fresh.all("Book")
                        #expect(found.map(\.objectID) == (isThere ? [id] : []), what)
                        #expect(
                            Set(try fresh.all("Chapter").map { $0.text("title") })
                                == (isThere ? ["a", "b", "c", "t"] : []), what)
                        guard let same = found.first else { return }
                        #expect(same.text("title") == "theirs" && same.object("author")?.text("name") == "base", what)
                        #expect(same.names(of: "tags") == ["a", "b", "c"], what)
                        #expect(same.names(of: "chapters", by: "title") == ["a", "b", "c", "t"], what)
                    }
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whatWasDeletedHereAndThereIsGone(_ store: SpecifiedStore) throws {  // I2
        for policy in Self.policies {
            try store.checkContexts { stack in
                try stack.story { context throws in
                    context.mergePolicy = policy
                    let id = try makeBook(context)
                    try stack.story { other throws in
                        other.delete(try other.existingObject(with: id))
                        try other.save()
                    }
                    context.delete(context.object(with: id))
                    try context.save()
                    #expect(try context.all("Book").isEmpty)
                }
            }
        }
    }

    // MARK: Relationships from row to row

    @Test(arguments: SpecifiedStore.all)
    func oneToOnePartnersFollowThePolicy(_ store: SpecifiedStore) throws {  // I5, I6
        for policy in Self.policies {
            try store.checkContexts { stack in
                let what = Comment(rawValue: "\(policy)")
                try stack.story { context throws in
                    context.mergePolicy = policy
                    for name in ["Ann", "Bob", "Cid", "Dan"] { _ = context.insert("Person", ["name": name]) }
                    let ann = try context.one("Person", "name == 'Ann'")
                    let bob = try context.one("Person", "name == 'Bob'")
                    ann.setValue(bob, forKey: "spouse")
                    try context.save()
                    try stack.story { other throws in
                        try other.one("Person", "name == 'Ann'").setValue(
                            try other.one("Person", "name == 'Cid'"), forKey: "spouse")
                        try other.save()
                    }
                    let dan = try context.one("Person", "name == 'Dan'")
                    ann.setValue(dan, forKey: "spouse")
                    try context.save()
                    let isMine = [.overwrite, .mergeByPropertyObjectTrump].contains(policy)
                    #expect(ann.object("spouse")?.text("name") == (isMine ? "Dan" : "Cid"), what)
                    #expect(dan.object("spouse") === (isMine ? ann : nil), what)
                    checkInverses(context, what)
                    try stack.story { fresh throws in
                        let spouses = try fresh.all("Person", by: "name").map { $0.object("spouse")?.text("name") }
                        #expect(spouses == (isMine ? ["Dan", nil, nil, "Ann"] : ["Cid", nil, "Ann", nil]), what)
                    }
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func anObjectThatDependsOnAnotherIsRefreshed(_ store: SpecifiedStore) throws {  // I3
        for policy in Self.policies {
            try store.checkContexts { stack in
                try stack.story { context throws in
                    context.mergePolicy = policy
                    let author = context.insert("Author", ["name": "Ann"])
                    try context.save()
                    try stack.story { other throws in
                        try other.one("Author").setValue("theirs", forKey: "name")
                        try other.save()
                    }
                    context.detectConflicts(for: author)
                    _ = context.insert("Tag", ["name": "new"])
                    try context.save()
                    let name = "theirs"
                    #expect(author.text("name") == name, "\(policy)")
                    try stack.story { fresh throws in
                        #expect(try fresh.names("Author") == [name])
                        #expect(try fresh.names("Tag") == ["new"])
                    }
                }
            }
        }
    }

    // MARK: Stories

    /// Every store under every policy, but that which rolls one side back is left out where the two may come to differ.
    static let storyTrials: [(store: SpecifiedStore, policy: NSMergePolicy)] = SpecifiedStore.all.flatMap { store in
        policies.filter { $0 != .rollback || store.has(.agreeingSides) }.map { (store, $0) }
    }

    @Test(arguments: storyTrials)
    func whatIsInMemoryAfterEverySaveIsInTheStore(_ store: SpecifiedStore, _ policy: NSMergePolicy) throws {
        for seed in Trials.some(of: store.seeds(8)) {
            try store.checkContexts { stack in try tellStory(policy, seed, stack) }
        }
    }

    private func tellStory(_ policy: NSMergePolicy, _ seed: UInt64, _ stack: SpecifiedStack) throws {
        var numbers = SeededNumbers(seed: seed)
        let contexts = [stack.newContext(), stack.newContext()]
        try contexts[0].performAndWait {
            for index in 1...3 {
                _ = contexts[0].insert("Author", ["name": "A\(index)"])
                _ = contexts[0].insert("Book", ["title": "B\(index)"])
                _ = contexts[0].insert("Tag", ["name": "T\(index)"])
                _ = contexts[0].insert("Chapter", ["title": "C\(index)"])
            }
            try contexts[0].save()
        }
        for round in 1...8 {
            for context in contexts {
                try context.performAndWait {
                    context.mergePolicy = policy
                    for _ in 0...numbers.below(4) { try change(context, round, &numbers) }
                }
            }
            for context in contexts {
                let what = Comment(rawValue: "\(policy), seed \(seed), round \(round)")
                try context.performAndWait {
                    context.processPendingChanges()
                    let touched = context.updatedObjects.filter(\.hasPersistentChangedValues)
                        .union(context.insertedObjects)
                    // What is read meanwhile is newer than the rows that objects have.
                    if seed % 2 == 0 { for object in touched { _ = object.changedValues() } }
                    do { try context.save() } catch { Issue.record("\(what): \(error)") }
                    #expect(!context.hasChanges, what)
                    try stack.story { fresh throws in
                        for object in touched where object.managedObjectContext != nil {
                            let same = try fresh.existingObject(with: object.objectID)
                            #expect(describe(object) == describe(same), what)
                        }
                    }
                }
            }
        }
    }

    private func describe(_ object: NSManagedObject) -> String {
        let values = object.entity.attributesByName.keys.sorted().map { "\($0) \(object.value(forKey: $0) ?? "nil")" }
        let related = object.entity.relationshipsByName.sorted { $0.key < $1.key }.map { name, relationship in
            let ids = Self.targets(object, name).map(\.objectID.uriReference)
            return "\(name) \(relationship.isOrdered ? ids : ids.sorted())"
        }
        return (values + related).joined(separator: ", ")
    }

    private func change(
        _ context: NSManagedObjectContext, _ round: Int, _ numbers: inout SeededNumbers
    ) throws {
        // As they were when they were last seen.
        let known = context.registeredObjects.filter { !$0.isDeleted && $0.managedObjectContext != nil }
        func any(_ entity: String) throws -> NSManagedObject {
            let all = known.filter { $0.entity.name == entity }.sorted {
                $0.objectID.uriReference < $1.objectID.uriReference
            }
            if numbers.chance(3) || all.isEmpty {
                let found = try context.all(entity, by: entity == "Author" || entity == "Tag" ? "name" : "title")
                if !found.isEmpty { return numbers.pick(found) }
                return context.insert(entity, [entity == "Author" || entity == "Tag" ? "name" : "title": "new"])
            }
            return numbers.pick(all)
        }
        switch numbers.below(9) {
        case 0: try any("Book").setValue("t\(round)-\(numbers.below(100))", forKey: "title")
        case 1: try any("Book").setValue(numbers.below(100), forKey: "pages")
        case 2: try any("Book").setValue(numbers.chance(4) ? nil : try any("Author"), forKey: "author")
        case 3: try any("Chapter").setValue(numbers.chance(4) ? nil : try any("Book"), forKey: "book")
        case 4:
            let tags = try any("Book").mutableOrderedSetValue(forKey: "tags")
            let tag = try any("Tag")
            if tags.contains(tag) { tags.remove(tag) } else { tags.insert(tag, at: 0) }
        case 5:
            let book = try any("Book")
            let chapters = (book.value(forKey: "chapters") as? NSOrderedSet)?.array ?? []
            book.setValue(NSOrderedSet(array: chapters.reversed()), forKey: "chapters")
        case 6: _ = context.insert("Chapter", ["title": "n\(round)", "book": try any("Book")])
        case 7: try any("Author").setValue("n\(round)-\(numbers.below(100))", forKey: "name")
        default:
            if numbers.chance(2) { context.delete(try any(numbers.pick(["Chapter", "Tag", "Book", "Author"]))) }
        }
    }
}

extension NSManagedObjectID {
    var uriReference: String { uriRepresentation().absoluteString }
}
