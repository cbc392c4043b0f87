import Foundation

/// A picture by its name, glued on a note.
public final class Sticker: NSObject, NSCoding {
    public let name: String
    private let whenGone: @Sendable () -> Void

    public init(name: String, whenGone: @escaping @Sendable () -> Void = {}) {
        self.name = name
        self.whenGone = whenGone
    }

    public convenience init?(coder: NSCoder) {
        guard let name = coder.decodeObject(forKey: "name") as? String else { return nil }
        self.init(name: name)
    }

    public func encode(with coder: NSCoder) { coder.encode(name, forKey: "name") }

    deinit { whenGone() }
}
