import CObjectRuntime
import Foundation

/// The names of classes in archives, if these are not the classes' own.
///
/// On Apple's platforms, archives of a class `@objc(MyColor)` contain `MyColor`; here they contain `Palette.MyColor`.
/// So that each side can read the other's archives, `coredata port` writes one subclass of this for each such class,
/// all of them named `_ArchiveNames`. They are found by that name before the first model with transformable attributes
/// is used.
///
///     enum _ArchiveNamesOfMyColor {
///         final class _ArchiveNames: ManagedArchiveNames {
///             override class var classes: [String: AnyClass] { ["MyColor": MyColor.self] }
///         }
///     }
open class ManagedArchiveNames {
    /// Classes by the names that archives have for them.
    open class var classes: [String: AnyClass] { [:] }

    /// The names that the program lists, by the classes' own names. They are looked up once, and set on Foundation's
    /// unarchiver, too.
    ///
    /// Foundation's archiver ignores `setClassName(_:for:)` off Apple's platforms. See ``SecureArchive``.
    static let registered: [String: String] = {
        let found = Found()
        ocd_for_each_class_named(
            "_ArchiveNames",
            { metadata, _, context in
                guard let list = unsafeBitCast(metadata, to: AnyClass.self) as? ManagedArchiveNames.Type, let context
                else { return }
                let found = Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
                for (name, type): (String, AnyClass) in list.classes {
                    // As Foundation's archiver spells it; of a class inside a type it has no spelling, and cannot
                    // archive it.
                    found.names[String(reflecting: type)] = name
                    // A class that the program has set itself stays.
                    if NSKeyedUnarchiver.class(forClassName: name) == nil {
                        NSKeyedUnarchiver.setClass(type, forClassName: name)
                    }
                }
            }, Unmanaged.passUnretained(found).toOpaque())
        return found.names
    }()

    private final class Found {
        var names: [String: String] = [:]
    }
}
