import CObjectRuntime
import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Synchronization

/// Makes the compiler infer the superclass's name before it needs the superclass: it cannot do both at once, and which
/// of a module's files it comes to first is chance.
private func infer(_: NSExpression) {}

/// The class of every `NSExpression` there is: Foundation's own has no initialiser that can be called.
///
/// Instances are allocated without one, see `make(_:)`. That is sound because of three invariants, which a test
/// checks: the superclasses have no stored property, the only one here is valid when all its bytes are zero, and it
/// needs no destruction but the one in `deinit`.
public class StoredExpression: NSExpression {
    /// What the expression is; set right after the allocation and never again.
    private var payload: Unmanaged<ExpressionPayload>? = nil

    deinit { payload?.release() }

    /// A new instance of this class.
    final class func make(_ payload: ExpressionPayload) -> Self {
        let metadata = unsafeBitCast(self as AnyClass, to: UnsafeRawPointer.self)
        let memory = ocd_allocate_object(metadata)
        // The one place where an object comes from raw memory: the metadata is this class's own.
        let expression = unsafeDowncast(Unmanaged<AnyObject>.fromOpaque(memory).takeRetainedValue(), to: Self.self)
        expression.payload = .passRetained(payload)
        return expression
    }

    final var content: ExpressionPayload {
        guard let payload else { preconditionFailure("an expression without content: it was not made by this module") }
        return payload.takeUnretainedValue()
    }

    public override func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? StoredExpression else { return false }
        return self === other || content.node == other.content.node
    }

    public override var hash: Int { content.node.hashValue }

    public override var description: String { content.node.predicateFormat }
}

/// What an expression is, and what it takes to evaluate it.
final class ExpressionPayload {
    typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any?

    let node: ExpressionNode
    /// The block that the caller gave, for a block expression.
    let block: Block?
    private let evaluator: Lazily<ExpressionEvaluator>

    init(_ node: ExpressionNode, block: Block? = nil) {
        self.node = node
        self.block = block
        evaluator = Lazily { ExpressionEvaluator(node) }
    }

    func value(for object: Any?, in frame: EvaluationFrame?) throws -> Operand {
        try evaluator.value.value(for: OperandBridging.operand(from: object), in: frame)
    }
}

/// A value that is made when it is first asked for, by whichever thread asks.
final class Lazily<Value> {
    private let make: () -> Value
    /// Guards the making.
    private let lock = NSLock()
    private var made: Value?
    /// Whether `made` is there for good: then it is read without the lock.
    private let isMade = Atomic<Bool>(false)

    init(_ make: @escaping () -> Value) { self.make = make }

    var value: Value {
        if isMade.load(ordering: .acquiring), let made { return made }
        lock.lock()
        defer { lock.unlock() }
        if let made { return made }
        let value = make()
        made = value
        isMade.store(true, ordering: .releasing)
        return value
    }
}

extension PredicateMaking {
    /// The expression that a tree stands for.
    init(expressionPayload: ExpressionPayload) {
        guard let expression = StoredExpression.make(expressionPayload) as? Self else {
            preconditionFailure("\(Self.self) is not a class of expressions")
        }
        self = expression
    }

    package init(node: ExpressionNode) { self.init(expressionPayload: ExpressionPayload(node)) }
}

extension PredicateMaking where Self: NSExpression {
    /// The expression's tree.
    package var node: ExpressionNode {
        guard let stored = self as? StoredExpression else {
            preconditionFailure("an expression without content: it was not made by this module")
        }
        return stored.content.node
    }

    package static func make(node: ExpressionNode) -> NSExpression { StoredExpression.make(ExpressionPayload(node)) }
}
