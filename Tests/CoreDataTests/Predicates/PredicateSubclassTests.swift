import CoreData
import Testing

// Predicates, expressions and sort descriptors of an application's own classes, as public code bases write them. This file
// imports CoreData alone, as files of applications do: it brings Foundation with it.

private protocol TypedPredicate: NSPredicate { associatedtype Root }

private final class TypedCompound<Root>: NSCompoundPredicate, TypedPredicate {}

private final class TypedComparison<Root>: NSComparisonPredicate, TypedPredicate {}

extension TypedComparison {
    fileprivate convenience init<Value>(
        _ keyPath: KeyPath<Root, Value>, _ type: NSComparisonPredicate.Operator, _ value: Any?,
        options: NSComparisonPredicate.Options = []
    ) {
        let left =
            \Root.self == keyPath ? NSExpression.expressionForEvaluatedObject() : NSExpression(forKeyPath: keyPath)
        self.init(
            leftExpression: left, rightExpression: NSExpression(forConstantValue: value), modifier: .direct, type: type,
            options: options)
    }
}

private func == <Root, Value: Equatable>(keyPath: KeyPath<Root, Value>, value: Value) -> TypedComparison<Root> {
    TypedComparison(keyPath, .equalTo, value)
}

private func > <Root, Value: Comparable>(keyPath: KeyPath<Root, Value>, value: Value) -> TypedComparison<Root> {
    TypedComparison(keyPath, .greaterThan, value)
}

private func && <A: TypedPredicate, B: TypedPredicate>(a: A, b: B) -> TypedCompound<A.Root> where A.Root == B.Root {
    TypedCompound(type: .and, subpredicates: [a, b])
}

private func || <A: TypedPredicate, B: TypedPredicate>(a: A, b: B) -> TypedCompound<A.Root> where A.Root == B.Root {
    TypedCompound(orPredicateWithSubpredicates: [a, b])
}

private prefix func ! <A: TypedPredicate>(a: A) -> TypedCompound<A.Root> {
    TypedCompound(notPredicateWithSubpredicate: a)
}

private final class AnyTyped<Root>: NSPredicate, TypedPredicate {
    var note = "kept"
}

/// Not generic, with a designated initialiser of its own.
private class Adults: NSCompoundPredicate {
    let limit: Int

    init(over limit: Int) {
        self.limit = limit
        super.init(type: .and, subpredicates: [NSPredicate(format: "pages > %d", limit), NSPredicate(value: true)])
    }
}

private class TitleComparison: NSComparisonPredicate {
    var note: String?
    lazy var length = (note ?? "").count

    convenience init(title: String) {
        self.init(
            leftExpression: NSExpression(forKeyPath: "title"), rightExpression: NSExpression(forConstantValue: title),
            modifier: .direct, type: .equalTo)
        note = "title"
    }
}

private final class ShoutedTitle: TitleComparison {
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        super.evaluate(with: object, substitutionVariables: bindings)
    }

    @available(*, deprecated, message: "As Foundation's")
    override var predicateFormat: String { super.predicateFormat.uppercased() }
}

@Suite struct PredicateSubclassTests {
    /// Books "a" with 10 pages, "b" with 20 and "c" with 30.
    private func library() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            for (index, title) in ["a", "b", "c"].enumerated() {
                let book = Book(context: context)
                book.title = title
                book.pages = Int32(index + 1) * 10
            }
            try context.save()
        }
        return stack
    }

    /// What the predicate selects in the store, with unsaved changes, and in memory.
    private func check(
        _ predicate: NSPredicate, _ titles: [String], _ format: String, sourceLocation: SourceLocation
    ) throws {
        let stack = try library()
        try stack.story { context in
            let all = try context.all(Book.self, "Book")
            for isChanged in [false, true] {
                if isChanged { all.forEach { $0.rating = 1 } }
                let request = NSFetchRequest<Book>(entityName: "Book")
                request.predicate = predicate
                #expect(
                    try context.fetch(request).compactMap(\.title).sorted() == titles, sourceLocation: sourceLocation)
                #expect(try context.count(for: request) == titles.count, sourceLocation: sourceLocation)
            }
            #expect(
                all.filter { predicate.evaluate(with: $0) }.compactMap(\.title).sorted() == titles,
                sourceLocation: sourceLocation)
        }
        #expect(predicate.format == format, sourceLocation: sourceLocation)
        #expect(predicate.description == format, sourceLocation: sourceLocation)
    }

    /// The predicate and its copies are one and the same, and of the same class.
    private func check<P: NSPredicate>(
        _ predicate: P, selects titles: [String], _ format: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let copy = try #require(predicate.copy() as? P, sourceLocation: sourceLocation)
        let other = try #require(predicate.copy(with: nil) as? NSPredicate, sourceLocation: sourceLocation)
        for predicate in [copy, other, predicate] as [NSPredicate] {
            try check(predicate, titles, format, sourceLocation: sourceLocation)
        }
        let nested = NSCompoundPredicate(notPredicateWithSubpredicate: copy)
        try check(
            nested, ["a", "b", "c"].filter { !titles.contains($0) }, nested.format, sourceLocation: sourceLocation)
    }

    @Test func typedComparisons() throws {
        try check(\Book.title == "b", selects: ["b"], "title == \"b\"")
        try check(\Book.pages > 10, selects: ["b", "c"], "pages > 10")
        try check(
            TypedComparison(\Book.title, .like, "B", options: .caseInsensitive), selects: ["b"], "title LIKE[c] \"B\"")
        let typed = TypedComparison(\Book.title, .in, ["a", "c"])
        try check(typed, selects: ["a", "c"], "title IN {\"a\", \"c\"}")
        #expect(typed.predicateOperatorType == .in && typed.leftExpression.keyPath == "title")
        #expect(type(of: typed) == TypedComparison<Book>.self)
    }

    @Test func typedCompounds() throws {
        try check(\Book.title == "b" && \Book.pages > 10, selects: ["b"], "title == \"b\" AND pages > 10")
        try check(\Book.title == "a" || \Book.pages > 20, selects: ["a", "c"], "title == \"a\" OR pages > 20")
        try check(!(\Book.title == "b"), selects: ["a", "c"], "NOT title == \"b\"")
        try check(
            !(\Book.title == "a" || \Book.title == "b") && \Book.pages > 1, selects: ["c"],
            "NOT (title == \"a\" OR title == \"b\") AND pages > 1")
    }

    @Test func classesWithAnInitialiserOfTheirOwn() throws {
        let adults = Adults(over: 15)
        try check(adults, selects: ["b", "c"], "pages > 15 AND TRUEPREDICATE")
        #expect((adults.copy() as? Adults)?.limit == 15)
        let titled = TitleComparison(title: "c")
        #expect(titled.note == "title" && titled.length == 5)
        try check(titled, selects: ["c"], "title == \"c\"")
        #expect((titled.copy() as? TitleComparison)?.note == "title")
        try check(ShoutedTitle(title: "c"), selects: ["c"], "TITLE == \"C\"")
    }

    @Test func formatsMakePredicatesOfTheClass() throws {
        let typed = AnyTyped<Book>(format: "pages > %d AND title != %@", 10, "b")
        #expect(typed.note == "kept")
        try check(typed, selects: ["c"], "pages > 10 AND title != \"b\"")
        try check(
            TypedCompound<Book>(format: "pages > 10 OR title == 'a'"), selects: ["a", "b", "c"],
            "pages > 10 OR title == \"a\"")
        try check(TypedComparison<Book>(format: "pages > 10"), selects: ["b", "c"], "pages > 10")
        let open = AnyTyped<Book>(format: "pages > $X")
        try check(open.withSubstitutionVariables(["X": 20]), selects: ["c"], "pages > 20")
        let comparison = TypedComparison<Book>(format: "pages > $X").withSubstitutionVariables(["X": 20])
        #expect(type(of: comparison) == TypedComparison<Book>.self)
        try check(comparison, selects: ["c"], "pages > 20")
    }

    @Test func contentTellsPredicatesApart() {
        let first = \Book.title == "a"
        let (same, other) = (\Book.title == "a", \Book.title == "b")
        #expect(first.isEqual(same) && !first.isEqual(other))
        let objects = [first, same, other] as [NSObject]
        #expect(objects[0] == objects[1] && objects[0] != objects[2] && objects[0].hash == objects[1].hash)
        #expect(Set([first, same, other]).count == 2)
        #expect(
            first.isEqual(NSPredicate(format: "title == 'a'")) && NSPredicate(format: "title == 'a'").isEqual(first))
        #expect(!NSPredicate(value: false).isEqual(first) && !first.isEqual(NSPredicate(value: false)))
        let compound = \Book.title == "a" && \Book.pages > 1
        #expect(compound.isEqual(\Book.title == "a" && \Book.pages > 1))
        #expect(!compound.isEqual(\Book.title == "a" && \Book.pages > 2))
        #expect(Set([compound, \Book.title == "a" && \Book.pages > 1]).count == 1)
    }

    @Test func instancesAreReleased() {
        final class Token {}
        weak var token: Token?
        do {
            let held = Token()
            token = held
            let predicate = TypedComparison<Book>(\.title, .equalTo, held)
            #expect(predicate.copy() as? NSPredicate === predicate)
            let expression = TypedExpression<Book>(forConstantValue: held)
            #expect(expression.constantValue as? Token === held)
        }
        #expect(token == nil)
    }
}

// MARK: Expressions

private class TypedExpression<Root>: NSExpression {
    var note: String?
}

@Suite struct ExpressionSubclassTests {
    @Test func expressionsAreOfTheClass() throws {
        let expression = TypedExpression<Book>(format: "pages * %d", 2)
        expression.note = "doubled"
        #expect(type(of: expression) == TypedExpression<Book>.self)
        #expect(expression.expressionType == .function && "\(expression)" == "pages * 2")
        #expect(expression.expressionValue(with: ["pages": 4], context: nil) as? Int == 8)
        let copy = try #require(expression.copy() as? TypedExpression<Book>)
        #expect(copy.note == "doubled" && copy == expression)
        #expect(expression == NSExpression(format: "pages * 2") && NSExpression(format: "pages * 2") == expression)
        #expect(expression.hash == NSExpression(format: "pages * 2").hash)
        let predicate = NSComparisonPredicate(
            leftExpression: expression, rightExpression: TypedExpression<Book>(forConstantValue: 40), modifier: .direct,
            type: .greaterThan)
        let stack = try LibraryStack()
        try stack.story { context in
            for pages in [10, 30] as [Int32] {
                let book = Book(context: context)
                book.title = "a"
                book.pages = pages
            }
            try context.save()
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = predicate
            #expect(try context.fetch(request).map(\.pages) == [30])
        }
    }
}

// MARK: Sort descriptors

private class NotedSort: NSSortDescriptor {
    var note = "kept"
}

private final class NilLast: NSSortDescriptor {
    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let (first, second) = ((object1 as? Book)?.isbn, (object2 as? Book)?.isbn)
        if first == nil, second != nil { return .orderedDescending }
        if first != nil, second == nil { return .orderedAscending }
        return super.compare(object1, to: object2)
    }
}

@Suite struct SortDescriptorSubclassTests {
    private func books(_ body: ([Book], NSManagedObjectContext) throws -> Void) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            for (index, isbn) in ["b", nil, "a"].enumerated() {
                let book = Book(context: context)
                book.title = ["x", "y", "Z"][index]
                book.isbn = isbn
            }
            try context.save()
            try body(context.all(Book.self, "Book"), context)
        }
    }

    private func fetched(_ descriptor: NSSortDescriptor, _ context: NSManagedObjectContext) throws -> [String?] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [descriptor]
        return try context.fetch(request).map(\.title)
    }

    @Test func descriptorsAreOfTheClassAndSortInStoreAndMemory() throws {
        try books { all, context in
            let plain = NotedSort(key: "title", ascending: false)
            #expect(plain.note == "kept" && plain.key == "title" && plain.selector == "compare:" && !plain.ascending)
            let folded = NotedSort(key: "title", ascending: true, selector: "caseInsensitiveCompare:")
            let typed = NotedSort(keyPath: \Book.title, ascending: true)
            for (descriptor, titles) in [
                (plain, ["y", "x", "Z"]), (folded, ["x", "y", "Z"]), (typed, ["Z", "x", "y"]),
            ] {
                #expect(try fetched(descriptor, context) == titles)
                let copy = try #require(descriptor.copy() as? NotedSort)
                #expect((NSArray(array: all).sortedArray(using: [copy]) as? [Book])?.map(\.title) == titles)
                let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
                #expect(try fetched(reversed, context) == titles.reversed())
            }
            #expect(
                NSArray(array: [3, 1, 2]).sortedArray(using: [NotedSort(key: nil, ascending: true)]) as? [Int] == [
                    1, 2, 3,
                ])
        }
    }

    @Test func codeSortsInMemoryAndIsRefusedByAStore() throws {
        try books { all, context in
            let byCode = NotedSort(key: "title", ascending: true) { a, b in
                ((b as? String) ?? "").compare((a as? String) ?? "")
            }
            let nilLast = NilLast(key: "isbn", ascending: true)
            for (descriptor, titles) in [(byCode, ["y", "x", "Z"]), (nilLast, ["Z", "x", "y"])]
                as [(NSSortDescriptor, [String])]
            {
                #expect((NSArray(array: all).sortedArray(using: [descriptor]) as? [Book])?.map(\.title) == titles)
                let error = #expect(throws: CocoaError.self) { try fetched(descriptor, context) }
                #expect(error?.localizedDescription.contains("unsupported NSSortDescriptor") == true)
            }
        }
    }
}
