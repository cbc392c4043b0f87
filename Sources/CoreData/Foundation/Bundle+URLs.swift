import Foundation

extension Bundle {
    /// Returns the resources with that extension as `URL`s, as Apple's Foundation does.
    ///
    ///     let models: [URL]? = Bundle.module.urls(forResourcesWithExtension: "momd", subdirectory: nil)
    ///
    /// Off Apple's platforms Foundation's own method returns `NSURL`s, and is used if the type is not given.
    /// `NSManagedObjectModel(contentsOf:)` and `NSMappingModel(contentsOf:)` accept both.
    @_disfavoredOverload
    public func urls(forResourcesWithExtension ext: String?, subdirectory subpath: String?) -> [URL]? {
        let found: [NSURL]? = urls(forResourcesWithExtension: ext, subdirectory: subpath)
        return found?.map { $0 as URL }
    }

    /// As above, of one localization.
    @_disfavoredOverload
    public func urls(
        forResourcesWithExtension ext: String?, subdirectory subpath: String?, localization localizationName: String?
    ) -> [URL]? {
        let found: [NSURL]? = urls(
            forResourcesWithExtension: ext, subdirectory: subpath, localization: localizationName)
        return found?.map { $0 as URL }
    }
}
