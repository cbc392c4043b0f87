import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

/// The same predicate in memory and in SQL: generated predicates over generated rows must select the same ones
/// (predicates.md §8.3). The evaluator is the oracle.
///
/// `COREDATA_SEEDS=80 swift test --filter PredicateDifferential` tries 80,000 predicates instead of 6,000.
@Suite struct PredicateDifferentialTests {
    static let predicatesPerSeed = 1000

    @Test(arguments: Array(1...(ProcessInfo.processInfo.environment["COREDATA_SEEDS"].flatMap(UInt64.init) ?? 6)))
    func evaluatorAndStoreSelectTheSameRows(seed: UInt64) throws {
        let trial = try Trial(seed: seed)
        for _ in 0..<Self.predicatesPerSeed { try trial.check() }
        // A generator whose predicates nobody can answer would prove nothing.
        #expect(trial.comparedCount > Self.predicatesPerSeed * 17 / 20)
        #expect(trial.selectiveCount > Self.predicatesPerSeed / 4)
    }
}

/// One store and the predicates that are tried on it.
private final class Trial {
    private let seed: UInt64
    private let store: BookshopStore
    private let graph: BookshopGraph
    private var generator: PredicateGenerator
    /// How many predicates both sides answered, and how many of those selected some rows and not all.
    private(set) var comparedCount = 0
    private(set) var selectiveCount = 0
    private var failureCount = 0

    init(seed: UInt64) throws {
        self.seed = seed
        var numbers = SeededNumbers(seed: seed)
        store = try BookshopStore { filler in filler.fill(&numbers) }
        let graph = try BookshopGraph(store.engine)
        self.graph = graph
        generator = PredicateGenerator(numbers: numbers) { graph.objects(of: $0) }
    }

    func check() throws {
        let names = ["Book", "Book", "Author", "Tag", "Chapter", "Shelf", "Comic"]
        let entity = Bookshop.ordinal(generator.numbers.pick(names))
        let predicate = generator.predicate(on: entity)
        guard let difference = try difference(predicate, entity, isCounted: true) else { return }
        failureCount += 1
        guard failureCount <= 5 else { return }
        let smallest = try shrunk(predicate, entity)
        let found = try self.difference(smallest, entity, isCounted: false) ?? difference
        Issue.record("seed \(seed), \(Bookshop.model.entities[entity].name): \(smallest.predicateFormat)\n\(found)")
    }

    /// What the two sides disagree on; `nil` where they agree or neither can answer.
    private func difference(_ predicate: PredicateNode, _ entity: Int, isCounted: Bool) throws -> String? {
        let objects = graph.objects(of: entity)
        let evaluator = PredicateEvaluator(predicate)
        let frame = EvaluationFrame(now: 1000)
        var expected: Set<Int64> = []
        do {
            for object in objects where try evaluator.evaluate(.object(object), in: frame) {
                expected.insert(object.row.primaryKey)
            }
        } catch is PredicateFailure {
            return nil
        }
        var plan = FetchPlan(entity: entity)
        plan.predicate = predicate.mapExpressions { $0.withKeys }
        let planner = FetchPlanner(model: Bookshop.model, layout: Bookshop.layout, now: 1000)
        let text: SQLText
        do {
            text = try planner.keys(plan).text
        } catch let failure as PredicateFailure {
            if failure.diagnostic.message.hasPrefix("Unsupported") { return nil }
            // Types are checked for all rows at once: memory may never have met the operands.
            if failure.kind == .evaluation { return nil }
            return "not translated: \(failure.diagnostic.rendered)"
        }
        let found = Set(try store.engine.query(text) { $0.integer(0) })
        if isCounted {
            comparedCount += 1
            if !found.isEmpty && found.count < objects.count { selectiveCount += 1 }
        }
        guard found != expected else { return nil }
        let rows = objects.filter { found.contains($0.row.primaryKey) != expected.contains($0.row.primaryKey) }
        return """
            only in memory: \(expected.subtracting(found).sorted()), only in SQL: \(found.subtracting(expected).sorted())
            \(text.sql)
            \(text.bindings)
            \(rows.map(\.details).joined(separator: "\n"))
            """
    }

    /// The smallest part of the predicate that still shows a difference.
    private func shrunk(_ predicate: PredicateNode, _ entity: Int) throws -> PredicateNode {
        for part in predicate.parts where try difference(part, entity, isCounted: false) != nil {
            return try shrunk(part, entity)
        }
        return predicate
    }
}

extension PredicateNode {
    fileprivate var parts: [PredicateNode] {
        switch self {
        case .and(let parts), .or(let parts): parts
        case .not(let part): [part]
        case .constant, .comparison, .block: []
        }
    }
}

extension ExpressionNode {
    /// Object constants as the rows they are, as a context hands them to a store.
    var withKeys: ExpressionNode {
        guard case .constant(let constant) = self else { return self }
        return .constant(constant.withKeys)
    }
}

extension Constant {
    var withKeys: Constant {
        switch self {
        case .object(let object): .key(object.predicateRowKey(inStore: ""))
        case .collection(let members, let isOrdered): .collection(members.map(\.withKeys), isOrdered: isOrdered)
        case .value, .key, .dictionary, .symbol: self
        }
    }
}

extension BookshopObject {
    fileprivate var details: String {
        let entity = Bookshop.model.entities[row.entity]
        let values = entity.properties.map { property -> String in
            guard let operand = try? predicateOperand(forKey: property.name) else { return "\(property.name)=?" }
            switch operand {
            case .value(let value): return "\(property.name)=\(value)"
            case .object(let object): return "\(property.name)=\(object.predicateDescription)"
            case .collection(let members, _):
                let names = members.map { member -> String in
                    if case .object(let object) = member { return object.predicateDescription }
                    return "?"
                }
                return "\(property.name)=\(names)"
            case .dictionary: return "\(property.name)=?"
            }
        }
        return "\(predicateDescription) \(values.joined(separator: " "))"
    }
}

extension BookshopStore.Filler {
    /// Rows of every entity, a third of their values NULL, related at random.
    mutating func fill(_ numbers: inout SeededNumbers) {
        func maybe(_ value: SQLValue, _ numbers: inout SeededNumbers) -> SQLValue {
            numbers.chance(3) ? .null : value
        }
        func text(_ numbers: inout SeededNumbers) -> SQLValue {
            maybe(.text(numbers.pick(PredicateGenerator.texts)), &numbers)
        }
        func integer(_ numbers: inout SeededNumbers) -> SQLValue {
            maybe(.integer(Int64(numbers.below(8) - 2)), &numbers)
        }
        func real(_ numbers: inout SeededNumbers) -> SQLValue {
            maybe(.real(Double(numbers.below(12) - 3) / 2), &numbers)
        }
        func key(_ limit: Int, _ numbers: inout SeededNumbers) -> SQLValue {
            maybe(.integer(Int64(numbers.below(limit) + 1)), &numbers)
        }
        for index in 1...6 {
            insert(
                "Author", Int64(index),
                [
                    "name": text(&numbers), "born": maybe(.real(Double(numbers.below(6)) * 50), &numbers),
                    "rating": real(&numbers),
                ])
        }
        for index in 1...16 {
            let isComic = index > 11
            insert(
                isComic ? "Comic" : "Book", Int64(index),
                [
                    "title": text(&numbers), "subtitle": text(&numbers), "pages": integer(&numbers),
                    "stock": integer(&numbers), "price": maybe(.text("\(Decimal(numbers.below(12)) / 4)"), &numbers),
                    "weight": real(&numbers), "isOut": maybe(.integer(Int64(numbers.below(2))), &numbers),
                    "published": maybe(.real(Double(numbers.below(6)) * 50), &numbers), "link": text(&numbers),
                    "code": maybe(.blob(Data(repeating: UInt8(numbers.below(3)), count: 16)), &numbers),
                    "digest": maybe(.blob(Data([1])), &numbers), "mood": maybe(.blob(Data([2])), &numbers),
                    "author": key(6, &numbers),
                ])
            for tag in 1...5 where numbers.chance(3) { link("Book", "tags", Int64(index), Int64(tag)) }
            for shelf in 1...4 where numbers.chance(4) {
                link("Shelf", "books", Int64(shelf), Int64(index), order: Int64(numbers.below(1000)))
            }
        }
        for index in 1...12 {
            insert(
                "Chapter", Int64(index),
                [
                    "title": text(&numbers), "length": integer(&numbers), "book": key(16, &numbers),
                    "order of book": .integer(Int64(index * 7919 % 100)),
                ])
        }
        for index in 1...5 { insert("Tag", Int64(index), ["name": text(&numbers), "heft": integer(&numbers)]) }
        for index in 1...4 {
            insert("Shelf", Int64(index), ["label": text(&numbers)])
            own("Shelf", "picks", Int64(index), Int64(numbers.below(5) + 1))
        }
    }
}
