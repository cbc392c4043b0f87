import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// The same predicate in memory and in the store: generated predicates over generated rows must select the same ones
/// (predicates.md §8.3). The evaluator is the oracle.
///
/// `COREDATA_SEEDS=80 swift test --filter PredicateSpecification` tries 40,000 predicates on every store.
@Suite struct PredicateSpecification {
    static let predicatesPerSeed = 500

    /// Each store with each seed; in the short form two of the stores.
    static let trials: [(store: SpecifiedStore, seed: UInt64)] = {
        let all = SpecifiedStore.having(.rows).flatMap { store in
            Trials.seeds(store.predicateSeeds * 2).map { (store, $0) }
        }
        return Trials.some(of: all, atLeast: 2)
    }()

    @Test(arguments: trials)
    func evaluatorAndStoreSelectTheSameRows(_ store: SpecifiedStore, _ seed: UInt64) throws {
        try store.check(Bookshop.model) { try check($0, seed: seed, predicates: Self.predicatesPerSeed) }
    }

    /// What a dialect lacks is left to memory, and makes no difference.
    @Test(arguments: Trials.some(of: SpecifiedStore.sqliteLackingOne))
    func whatADatabaseLacksMakesNoDifference(_ store: SpecifiedStore) throws {
        try store.check(Bookshop.model) { try check($0, seed: 5, predicates: Self.predicatesPerSeed / 4) }
    }

    private func check(_ source: SpecifiedSource, seed: UInt64, predicates: Int) throws {
        let trial = try Trial(source, seed: seed)
        for _ in 0..<predicates { try trial.check() }
        // A generator whose predicates nobody can answer would prove nothing.
        #expect(trial.comparedCount > predicates * 17 / 20)
        #expect(trial.selectiveCount > predicates / 4)
    }
}

/// One store and the predicates that are tried on it.
private final class Trial {
    private let seed: UInt64
    private let source: SpecifiedSource
    private let graph: BookshopGraph
    private var generator: PredicateGenerator
    /// How many predicates both sides answered, and how many of those selected some rows and not all.
    private(set) var comparedCount = 0
    private(set) var selectiveCount = 0
    private var failureCount = 0

    init(_ source: SpecifiedSource, seed: UInt64) throws {
        self.seed = seed
        self.source = source
        var numbers = SeededNumbers(seed: seed)
        try source.fillBookshop(&numbers)
        let graph = try BookshopGraph(source.source)
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
        let found: Set<Int64>
        do {
            found = Set(try source.source.keys(plan).map(\.primaryKey))
        } catch let failure as PredicateFailure {
            if failure.diagnostic.message.hasPrefix("Unsupported") { return nil }
            // Types are checked for all rows at once: memory may never have met the operands.
            if failure.kind == .evaluation { return nil }
            return "not answered: \(failure.diagnostic.rendered)"
        }
        #expect(try source.source.count(plan) == found.count)
        if isCounted {
            comparedCount += 1
            if !found.isEmpty && found.count < objects.count { selectiveCount += 1 }
        }
        guard found != expected else { return nil }
        let rows = objects.filter { found.contains($0.row.primaryKey) != expected.contains($0.row.primaryKey) }
        return """
            only in memory: \(expected.subtracting(found).sorted()), only in the store: \(found.subtracting(expected).sorted())
            \(source.opened.explain(plan))
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
