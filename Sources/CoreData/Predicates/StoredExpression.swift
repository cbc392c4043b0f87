import CObjectRuntime
import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Synchronization

/// Makes the compiler infer the superclass's name before it needs the superclass: it cannot do both at once, and which
/// of a module's files it comes to first is chance.
private func infer(_: NSExpression) {}

/// The class of every `NSExpression`: Foundation's class has no initialiser that can be called.
///
/// Instances are allocated without an initialiser, see `make(_:)`. That is sound because of three invariants, which a
/// test checks: the superclasses have no stored property, the only one here is valid if all its bytes are zero, and it
/// needs no destruction except that of `deinit`.
public class StoredExpression: NSExpression {
    /// The expression's content; set once, directly after the allocation.
    private var payload: Unmanaged<ExpressionPayload>? = nil

    deinit { payload?.release() }

    /// A new instance of this class.
    final class func make(_ payload: ExpressionPayload) -> Self {
        let metadata = unsafeBitCast(self as AnyClass, to: UnsafeRawPointer.self)
        let memory = ocd_allocate_object(metadata)
        // Only here an object is made from raw memory: the metadata is this class's own.
        let expression = unsafeDowncast(Unmanaged<AnyObject>.fromOpaque(memory).takeRetainedValue(), to: Self.self)
        expression.payload = .passRetained(payload)
        return expression
    }

    final var storedContent: ExpressionPayload {
        guard let payload else { preconditionFailure("an expression without content: it was not made by this module") }
        return payload.takeUnretainedValue()
    }

    public override func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return self === other || node == other.node
    }

    public override var hash: Int { node.hashValue }

    public override var description: String { node.predicateFormat }

    public override var classForCoder: AnyClass { NSExpression.self }
}

/// An expression's content, and the data needed to evaluate it.
final class ExpressionPayload {
    typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any?

    let node: ExpressionNode
    /// The block that the caller gave, for a block expression.
    let block: Block?
    private let evaluator: Lazy<ExpressionEvaluator>

    init(_ node: ExpressionNode, block: Block? = nil) {
        self.node = node
        self.block = block
        evaluator = Lazy { ExpressionEvaluator(node) }
    }

    func value(for object: Any?, in frame: EvaluationFrame?) throws -> Operand {
        try evaluator.value.value(for: OperandBridging.operand(from: object), in: frame)
    }
}

/// A value that is made at the first read, by any thread.
final class Lazy<Value> {
    private let make: () -> Value
    /// Guards the making.
    private let lock = NSLock()
    private var made: Value?
    /// Whether `made` is final: then it is read without the lock.
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

extension ExpressionMaking where Self: NSExpression {
    /// The expression that a tree stands for.
    init(expressionPayload: ExpressionPayload) {
        guard let expression = ExpressionInstance.make(expressionPayload, of: Self.self) as? Self else {
            preconditionFailure("an instance of \(Self.self) is none")
        }
        self = expression
    }

    package init(node: ExpressionNode) { self.init(expressionPayload: ExpressionPayload(node)) }
}

/// Makes expressions of whatever class they shall have.
private enum ExpressionInstance {
    static func make(_ payload: ExpressionPayload, of type: NSExpression.Type) -> NSExpression {
        if type == NSExpression.self || type == StoredExpression.self { return StoredExpression.make(payload) }
        PredicateMethodOverrides.prepare(expressions: type)
        let (expression, properties) = allocate(payload, type)
        guard let property = properties.unknown else { return expression }
        let refusal = Diagnostic(.error, StoredProperties.message(type, property))
        let refused = ExpressionBlock(refusal: PredicateFailure(.unsupported, refusal))
        return allocate(ExpressionPayload(.block(refused)), type).0
    }

    /// An instance of an application's class, with its content behind it.
    private static func allocate(
        _ payload: ExpressionPayload, _ type: NSExpression.Type
    ) -> (NSExpression, StoredProperties) {
        let metadata = unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
        // After the first instance the class has ours.
        let found = UInt(bitPattern: ocd_destroyer(metadata))
        let destroyer = destroyers.withLock { destroyers in
            if found != 0 { destroyers[ObjectIdentifier(type)] = found }
            return destroyers[ObjectIdentifier(type)]
        }
        guard let original = destroyer.flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) else {
            preconditionFailure("instances of \(type) are destroyed by somebody else")
        }
        let reference = Unmanaged.passUnretained(payload).toOpaque()
        guard let memory = ocd_allocate_with_payload(metadata, reference, original) else {
            preconditionFailure("instances of \(type) cannot be made here; use NSExpression itself")
        }
        let properties = StoredProperties(of: type, below: NSExpression.self, in: memory)
        // The memory was allocated for that class.
        return (Unmanaged<NSExpression>.fromOpaque(memory).takeRetainedValue(), properties)
    }

    /// Guards what destroyed instances of each class before.
    private static let destroyers = Mutex<[ObjectIdentifier: UInt]>([:])
}

extension ExpressionMaking where Self: NSExpression {
    /// The expression's tree.
    package var node: ExpressionNode { content.node }

    /// The expression's content.
    var content: ExpressionPayload {
        if let stored = self as? StoredExpression { return stored.storedContent }
        // The code that made the instance has set it.
        guard let payload = ocd_payload(Unmanaged.passUnretained(self).toOpaque()) else {
            preconditionFailure("an expression without content: it was not made by this module")
        }
        return Unmanaged<ExpressionPayload>.fromOpaque(payload).takeUnretainedValue()
    }

    package static func make(node: ExpressionNode) -> NSExpression { StoredExpression.make(ExpressionPayload(node)) }
}
