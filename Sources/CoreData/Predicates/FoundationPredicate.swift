import CObjectRuntime
import CoreDataPredicate
import Foundation

/// What Foundation keeps of a predicate: a truth value, or a block. It is private there, so it is found by its place.
///
/// ```
///  object │ kind, instance size … │ the block's code │ the block's context │ which of the two it is
///  0                               16                 24                    32
///                                   the truth value
/// ```
enum FoundationPredicate {
    private static let start = 2 * MemoryLayout<UInt>.size
    private static let context = start + MemoryLayout<UInt>.size
    private static let mark = context + MemoryLayout<UInt>.size

    /// How predicates that are known look; `nil` where Foundation has another layout.
    private static let layout: (code: UInt, blockMark: UInt8, constantMark: UInt8)? = {
        guard ocd_instance_size(metadata(NSPredicate.self)) == mark + 1, MemoryLayout<UInt>.size == 8 else {
            return nil
        }
        let blocks = [true, false].map { NSPredicate(block: block(PredicatePayload(.constant($0)))) }
        let constants = [true, false].map { NSPredicate(value: $0) }
        let code: [UInt] = blocks.map { load($0, start) }
        let contexts: [UInt] = blocks.map { load($0, context) }
        let truths: [UInt8] = constants.map { load($0, start) }
        let marks: [UInt8] = (blocks + constants).map { load($0, mark) }
        guard code[0] == code[1], contexts[0] != contexts[1], truths[0] & 1 == 1, truths[1] & 1 == 0,
            marks[0] == marks[1], marks[2] == marks[3], marks[1] != marks[2]
        else { return nil }
        return (code[0], marks[0], marks[2])
    }()

    static var isKnown: Bool { layout != nil }

    private static func metadata(_ type: AnyClass) -> UnsafeRawPointer {
        unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    private static func load<T: BitwiseCopyable>(_ predicate: NSPredicate, _ offset: Int) -> T {
        Unmanaged.passUnretained(predicate).toOpaque().loadUnaligned(fromByteOffset: offset, as: T.self)
    }

    // MARK: Reading

    /// The truth value of a predicate that is one and that Foundation made.
    static func constant(of predicate: NSPredicate) -> Bool? {
        guard let layout, load(predicate, mark) == layout.constantMark else { return nil }
        let truth: UInt8 = load(predicate, start)
        return truth & 1 == 1
    }

    /// The content of a predicate that Foundation evaluates by a block of ours.
    static func payload(of predicate: NSPredicate) -> PredicatePayload? {
        guard let layout, load(predicate, mark) == layout.blockMark, load(predicate, start) == layout.code else {
            return nil
        }
        let question = Question()
        // The class is another one, but Foundation's method is called, whatever overrides it.
        Unmanaged<AskedPredicate>.fromOpaque(Unmanaged.passUnretained(predicate).toOpaque()).takeUnretainedValue()
            .ask(question)
        return question.payload
    }

    /// Asks a block of ours for its content.
    private final class Question { var payload: PredicatePayload? }

    private class AskedPredicate: NSPredicate {
        final func ask(_ question: Question) { _ = super.evaluate(with: question, substitutionVariables: nil) }
    }

    // MARK: Making

    /// A block that evaluates the content, and that knows it.
    @inline(never)
    static func block(_ payload: PredicatePayload) -> (Any?, [String: Any]?) -> Bool {
        { object, variables in
            guard let question = object as? Question else { return payload.evaluate(with: object, variables) }
            question.payload = payload
            return false
        }
    }

    /// An instance of a class that is derived of Foundation's comparisons, which have no initialiser: its part of the
    /// memory is as if `init(block:)` had run. `nil` where Foundation has another layout.
    static func allocate(_ type: NSPredicate.Type, _ payload: PredicatePayload) -> UnsafeMutableRawPointer? {
        guard let layout else { return nil }
        let model = NSPredicate(block: block(payload))
        return withExtendedLifetime(model) {
            guard
                let reference: UnsafeMutableRawPointer = UnsafeMutableRawPointer(
                    bitPattern: load(model, context) as UInt),
                load(model, start) == layout.code
            else { return nil }
            let memory = ocd_allocate_object(metadata(type))
            memory.advanced(by: start).copyMemory(
                from: Unmanaged.passUnretained(model).toOpaque().advanced(by: start), byteCount: mark + 1 - start)
            // The model releases its own reference when it is deallocated.
            ocd_retain(reference)
            return memory
        }
    }
}
